// SPDX-License-Identifier: BSD-3-Clause
//
// The one list of formats that results are handed on in, to software that does not read them as
// they are.
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

  /// Writes `output` and, of a landscape of several checkpoints, a second file with their
  /// trajectory; each whole or not at all.
  /// @return the files written, `output` first.
  /// @throws InputError if the result does not hold what the format needs; ConfigError as
  ///         files_of_export(); OutputError.
  std::vector<std::filesystem::path> (*write)(const ResultReader& result,
                                              const std::filesystem::path& output,
                                              Existing existing);

  /// What its files begin with, one of these.
  std::vector<std::string> beginnings;

  /// What stands between name and extension of the second file.
  std::string trajectory_suffix;
};

/// The files that `format` would write: `output` and, of a landscape of several checkpoints, that
/// of the trajectory. @throws ConfigError where the second one is the result itself.
std::vector<std::filesystem::path> files_of_export(const ExportKind& format,
                                                   const ResultReader& result,
                                                   const std::filesystem::path& output);

std::span<const ExportKind> export_kinds();

/// The format of this name. @throws ConfigError with the nearest name and the list.
const ExportKind& find_export_kind(const std::string& name);

}  // namespace hesscope::io
