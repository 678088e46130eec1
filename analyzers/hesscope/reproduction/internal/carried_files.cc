// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/reproduction/built_in_experiments.h>
#include <hesscope/reproduction/internal/carried_files.h>
#include <hesscope/storage/atomic_file.h>
#include <hesscope/storage/overwrite.h>
#include <hesscope/storage/unit_folder.h>

namespace hesscope::detail {
namespace {

namespace fs = std::filesystem;

// The files of one experiment, with their names in its folder.
std::vector<std::pair<std::string, const BuiltInFile*>> files_of(std::string_view experiment) {
  const std::string folder = std::string(experiment) + "/";
  std::vector<std::pair<std::string, const BuiltInFile*>> files;
  for (const BuiltInFile& file : built_in_files()) {
    if (!file.name.starts_with(folder)) continue;
    files.emplace_back(file.name.substr(folder.size()), &file);
  }
  return files;
}

[[noreturn]] void refuse_folder(const fs::path& folder, const std::error_code& error) {
  throw OutputError(
      fmt::format("{}: cannot create the folder: {}", folder.string(), error.message()));
}

bool holds(const fs::path& path, std::string_view bytes) {
  std::error_code none;  // a missing file is written
  return fs::file_size(path, none) == bytes.size() && io::begins_with(path, {std::string(bytes)});
}

}  // namespace

void place_carried_files(TomlTable& root, std::string_view experiment, const fs::path& folder) {
  for (const auto& [name, file] : files_of(experiment)) {
    for (auto& [key, value] : root.values) {
      const auto* const text = std::get_if<std::string>(&value);
      if (text != nullptr && *text == file->name) value = (folder / name).string();
    }
  }
  for (auto& [key, table] : root.tables) place_carried_files(table, experiment, folder);
  for (auto& [key, tables] : root.table_lists) {
    for (TomlTable& table : tables) place_carried_files(table, experiment, folder);
  }
}

void write_carried_files(std::string_view experiment, const fs::path& folder) {
  const auto files = files_of(experiment);
  if (files.empty()) return;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) refuse_folder(folder, error);
  for (const auto& [name, file] : files) {
    const fs::path path = folder / name;
    if (!holds(path, file->bytes)) io::write_whole(path, file->bytes, io::Existing::kReplace);
  }
}

void remove_remnants_of_carried_files(std::string_view experiment, const fs::path& folder) {
  for (const auto& [name, file] : files_of(experiment)) io::remove_remnants(folder / name);
}

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) refuse_folder(parent, error);
  std::string name = (parent / "hesscope-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    refuse_folder(name, std::error_code(errno, std::generic_category()));
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // files that cannot be removed are left to the system
  fs::remove_all(path_, ignored);
}

}  // namespace hesscope::detail
