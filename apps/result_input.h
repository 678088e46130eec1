// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <hesscope/dataset/result_reader.h>
#include <hesscope/figures/figure_kind.h>

namespace hesscope::cli {

/// @throws InputError if `path` is a result of which only finished parts are there, as after an
/// interrupt.
void require_complete(const std::string& path);

/// Opens a result file, for a command that takes nothing else. @throws InputError if it is missing,
/// damaged, or something else.
io::ResultReader open_result(const std::string& path);

/// Several results, and their names in legends.
struct OpenResults {
  std::vector<io::ResultReader> readers;
  std::vector<figures::Source> sources;  ///< of the readers
};

/// @param labels  one for each file, the same for seeds of one experiment; empty = distinct_names()
///                of the files. @throws as open_result(); UsageError for a file that is given
///                twice.
OpenResults open_results(const std::vector<std::string>& files, std::vector<std::string> labels);

/// @throws ConfigError unless there is no '--label', or one for each result.
void require_all_labels(const std::vector<std::string>& files,
                        const std::vector<std::string>& labels);

/// @throws ConfigError if the output is one of the results.
void require_no_result(const std::string& output, const std::vector<std::string>& files);

}  // namespace hesscope::cli
