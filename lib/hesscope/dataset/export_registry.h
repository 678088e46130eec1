// SPDX-License-Identifier: BSD-3-Clause
//
// The list of formats to which results are exported, for software that cannot read result files
// directly.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <hesscope/dataset/result_reader.h>
#include <hesscope/storage/overwrite.h>

namespace hesscope::io {

struct ExportKind {
  std::string name;       ///< "csv"
  std::string extension;  ///< ".csv", for messages and defaults
  std::string summary;    ///< one line for help

  /// Writes `output` and, for a landscape of several checkpoints, a second file with their
  /// trajectory; each file completely or not at all.
  /// @return the files written, `output` first.
  /// @throws InputError if the result does not hold what the format needs; ConfigError as
  ///         files_of_export(); OutputError.
  std::vector<std::filesystem::path> (*write)(const ResultReader& result,
                                              const std::filesystem::path& output,
                                              Existing existing);

  /// The file begins with one of these.
  std::vector<std::string> beginnings;

  /// Inserted between name and extension for the second file.
  std::string trajectory_suffix;
};

/// The files that `format` would write: `output` and, for a landscape of several checkpoints, the
/// trajectory file. @throws ConfigError if the second one would be the result itself.
std::vector<std::filesystem::path> files_of_export(const ExportKind& format,
                                                   const ResultReader& result,
                                                   const std::filesystem::path& output);

std::span<const ExportKind> export_kinds();

/// The format of this name. @throws ConfigError with the nearest name and the list.
const ExportKind& find_export_kind(const std::string& name);

}  // namespace hesscope::io
