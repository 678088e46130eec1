// SPDX-License-Identifier: BSD-3-Clause
//
// Graphs and data of included experiments, written to disk, because all other code reads files.
#pragma once

#include <filesystem>
#include <string_view>

#include <hesscope/problem/internal/toml_tables.h>

namespace hesscope::detail {

/// The folder for an experiment's included files within that of its results. No variant may have
/// this name.
inline constexpr char kInputsFolder[] = "inputs";

/// Replaces the names of included files by paths below `folder`: "EXPERIMENT/FILE", as the value of
/// any key, becomes "FOLDER/FILE". All other values stay as they are, relative to the working
/// directory.
void place_carried_files(TomlTable& root,
                         std::string_view experiment,
                         const std::filesystem::path& folder);

/// Writes the files into the folder, unless they are there with the same bytes. Does nothing if the
/// experiment has none. @throws OutputError.
void write_carried_files(std::string_view experiment, const std::filesystem::path& folder);

/// Removes temporary files that killed processes left in the folder. No process may be writing
/// there.
void remove_remnants_of_carried_files(std::string_view experiment,
                                      const std::filesystem::path& folder);

/// A new empty temporary folder, which is removed with the object.
class TemporaryFolder {
 public:
  /// @throws OutputError.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace hesscope::detail
