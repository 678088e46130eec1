// SPDX-License-Identifier: BSD-3-Clause
//
// Graphs and data that carried experiments name, as files on disk: everything below reads files.
#pragma once

#include <filesystem>
#include <string_view>

#include <hesscope/problem/internal/toml_tables.h>

namespace hesscope::detail {

/// The folder of an experiment's carried files in that of its results. No variant is called so.
inline constexpr char kInputsFolder[] = "inputs";

/// Puts paths below `folder` in place of the names of files that are carried: "FOLDER/FILE" for the
/// value "EXPERIMENT/FILE" of any key. All other values stay as they are, and so are relative to
/// the working directory.
void place_carried_files(TomlTable& root,
                         std::string_view experiment,
                         const std::filesystem::path& folder);

/// Writes them into the folder where they are not there with the same bytes; of an experiment that
/// carries none, does nothing. @throws OutputError.
void write_carried_files(std::string_view experiment, const std::filesystem::path& folder);

/// Removes temporary files that killed writers of them left in the folder. Nobody may be writing
/// them.
void remove_remnants_of_carried_files(std::string_view experiment,
                                      const std::filesystem::path& folder);

/// An empty folder of its own among the temporary files, which goes with it.
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
