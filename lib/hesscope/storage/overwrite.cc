// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/storage/overwrite.h>

namespace hesscope::io {

Existing existing_of(Overwrite overwrite) {
  return overwrite == Overwrite::kNothing ? Existing::kRefuse : Existing::kReplace;
}

std::string refusal_to_replace(const std::filesystem::path& output,
                               Overwrite overwrite,
                               const std::string& kind,
                               const std::function<bool()>& is_of_kind) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_directory(output, error)) return "is a folder; name a file, in it or elsewhere";
  if (overwrite == Overwrite::kAnything || !fs::exists(fs::symlink_status(output, error)))
    return {};
  const char* const place = overwrite == Overwrite::kNothing ? "exists already" : "is there";
  if (!fs::exists(output, error)) {
    return fmt::format(
        "{}, a symbolic link to nothing ({}); choose another output, or replace the link by "
        "`Overwrite::kAnything`",
        place,
        fs::read_symlink(output, error).string());
  }
  const bool is_empty = fs::is_regular_file(output, error) && fs::file_size(output, error) == 0;
  const bool is_fine = is_empty || is_of_kind();
  if (overwrite == Overwrite::kOwnKind && is_fine) return {};
  return is_fine ? fmt::format("{}; choose another output, or replace it by `Overwrite::kOwnKind`",
                               place)
                 : fmt::format(
                       "{} and is not {}; choose another output, or replace it by "
                       "`Overwrite::kAnything`",
                       place,
                       kind);
}

void require_replaceable(const std::filesystem::path& output,
                         Overwrite overwrite,
                         const std::string& kind,
                         const std::function<bool()>& is_of_kind) {
  const std::string refusal = refusal_to_replace(output, overwrite, kind, is_of_kind);
  if (!refusal.empty()) throw OutputError(fmt::format("{}: {}", output.string(), refusal));
}

bool begins_with(const std::filesystem::path& path, const std::vector<std::string>& beginnings) {
  try {
    const InputFile file(path);
    return std::any_of(beginnings.begin(), beginnings.end(), [&](const std::string& text) {
      return file.text_at(0, text.size()) == text;
    });
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace hesscope::io
