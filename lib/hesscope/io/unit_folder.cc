// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/io/atomic_file.h>
#include <hesscope/io/tensor_file.h>
#include <hesscope/io/unit_folder.h>

namespace hesscope::io {
namespace {

namespace fs = std::filesystem;

const std::string kSuffix = ".unit";
const std::string kConfiguration = "configuration";

// A unit's file: 64 hexadecimal digits, SHA-256 of what follows, a newline, and the bytes.
constexpr std::size_t kDigestLength = 64;

fs::path folder_of(const fs::path& output) {
  fs::path folder = output;
  folder += ".units";
  return folder;
}

// OUTPUT.units on its way out: .OUTPUT.tmp-units beside it.
fs::path remnant_of(const fs::path& folder) {
  const std::string output = folder.stem().string();
  return folder.parent_path() / fmt::format(".{}.tmp-units", output);
}

void require_name(const std::string& name) {
  const auto is_fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (name.empty() || name[0] == '.' || !std::all_of(name.begin(), name.end(), is_fine)) {
    throw PreconditionError(fmt::format("UnitFolder: bad name '{}' of a unit", name));
  }
}

void write_file(const fs::path& path, std::string_view bytes) {
  std::string text = sha256_of_text(bytes);
  text.push_back('\n');
  text.append(bytes);
  write_whole(path, text, true);
}

std::optional<std::string> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || text.size() <= kDigestLength || text[kDigestLength] != '\n') return std::nullopt;
  std::string bytes = text.substr(kDigestLength + 1);
  if (sha256_of_text(bytes) != std::string_view(text).substr(0, kDigestLength)) return std::nullopt;
  return bytes;
}

// Tabs, newlines and backslashes are escaped.
void append_escaped(const std::string& text, std::string& result) {
  for (const char c : text) {
    switch (c) {
      case '\\':
        result.append("\\\\");
        break;
      case '\n':
        result.append("\\n");
        break;
      case '\t':
        result.append("\\t");
        break;
      default:
        result.push_back(c);
    }
  }
}

void remove_temporaries(const fs::path& folder, const std::string& prefix) noexcept {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (name.starts_with(prefix) && name.find(".tmp-") != std::string::npos) {
      fs::remove_all(entry->path(), ignored);
    }
  }
}

}  // namespace

std::string text_of(const RunConfiguration& configuration) {
  std::string text;
  for (const auto& [key, value] : configuration) {
    append_escaped(key, text);
    text.push_back('\t');
    append_escaped(value, text);
    text.push_back('\n');
  }
  return text;
}

std::string differing_key(const RunConfiguration& configuration, const std::string& theirs) {
  const std::string ours = text_of(configuration);
  std::size_t line = 0;
  while (line < ours.size()) {
    const std::size_t end = std::min(ours.find('\n', line), ours.size());
    if (theirs.compare(line, end - line + 1, ours, line, end - line + 1) != 0) break;
    line = end + 1;
  }
  const std::string& text = line < ours.size() ? ours : theirs;
  return line < text.size() ? text.substr(line, text.find('\t', line) - line) : std::string();
}

std::string digest_of(const RunConfiguration& configuration) {
  return sha256_of_text(text_of(configuration));
}

UnitFolder::UnitFolder(const fs::path& output, const RunConfiguration& configuration, Others others)
    : folder_(folder_of(output)) {
  std::error_code error;
  fs::create_directory(folder_, error);
  if (error || !fs::is_directory(folder_)) {
    throw OutputError(fmt::format("{}: cannot create the folder for finished parts: {}",
                                  folder_.string(),
                                  error ? error.message() : "a file is in the way"));
  }
  remove_temporaries(folder_, ".");
  const std::string ours = text_of(configuration);
  const std::optional<std::string> theirs = read_file(folder_ / kConfiguration);
  if (theirs == ours) return;
  if (size() > 0) {
    if (others == Others::kRefuse) {
      throw ConfigError(fmt::format(
          "{}: holds the finished parts of a run that differs in '{}'; finish that run by its own "
          "command, or discard its parts by --force",
          folder_.string(),
          theirs ? differing_key(configuration, *theirs) : "its damaged configuration"));
    }
    remove();
    fs::create_directory(folder_, error);
  }
  write_file(folder_ / kConfiguration, ours);
}

UnitFolder::~UnitFolder() {
  if (size() == 0) remove();
}

std::optional<std::string> UnitFolder::read(const std::string& name) const {
  require_name(name);
  return read_file(folder_ / fmt::format("{}{}", name, kSuffix));
}

void UnitFolder::write(const std::string& name, std::string_view bytes) const {
  require_name(name);
  write_file(folder_ / fmt::format("{}{}", name, kSuffix), bytes);
}

std::size_t UnitFolder::size() const {
  std::size_t count = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.ends_with(kSuffix) && !name.starts_with(".")) ++count;
  }
  return count;
}

void UnitFolder::remove() const noexcept {
  // Whole or not at all: a process killed meanwhile leaves what remove_remnants() knows, never
  // units without their configuration.
  std::error_code error;
  const fs::path remnant = remnant_of(folder_);
  fs::remove_all(remnant, error);
  fs::rename(folder_, remnant, error);
  fs::remove_all(error ? folder_ : remnant, error);
}

bool has_units(const fs::path& output) {
  std::error_code ignored;
  return fs::is_directory(folder_of(output), ignored);
}

void remove_remnants(const fs::path& output) noexcept {
  const fs::path folder = output.has_parent_path() ? output.parent_path() : fs::path(".");
  remove_temporaries(folder, fmt::format(".{}.tmp-", output.filename().string()));
}

}  // namespace hesscope::io
