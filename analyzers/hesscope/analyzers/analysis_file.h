// SPDX-License-Identifier: BSD-3-Clause
//
// The layout of an analysis' result file. Private to the analyzers.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/analyzers/analysis.h>
#include <hesscope/analyzers/analyzer.h>
#include <hesscope/io/result_file.h>
#include <hesscope/io/unit_folder.h>
#include <hesscope/problem/problem.h>

namespace hesscope::detail {

/// Version of the groups, names and meanings in result files (semantic versioning).
inline constexpr const char* kResultSchemaVersion = "1.0.0";

/// A result file with one slice per checkpoint: root variables, then a group per analyzer.
class AnalysisFile {
 public:
  /// @throws OutputError if the output cannot be created.
  AnalysisFile(const AnalysisRequest& request,
               const Problem& problem,
               const io::RunConfiguration& configuration);

  /// Declares an analyzer's group. All groups must be declared before the first record is written.
  void add_group(const std::string& group, const Analyzer& analyzer, const Objective& objective);

  void name_checkpoint(std::size_t index,
                       const CheckpointFile& checkpoint,
                       const std::string& sha256);
  void write_record(std::size_t index, const std::string& group, const Record& record);

  /// What an analyzer found for the whole run.
  void write_run_record(const std::string& group, const Record& record);
  void commit();

 private:
  void define(const std::string& group,
              const Quantity& quantity,
              const std::vector<std::string>& leading);
  void write_entries(const std::string& group,
                     const Record& record,
                     const std::optional<std::size_t>& index);

  io::ResultFile file_;
};

/// Whether `path` is a result of exactly this configuration.
bool is_result_of(const std::filesystem::path& path, const io::RunConfiguration& configuration);

}  // namespace hesscope::detail
