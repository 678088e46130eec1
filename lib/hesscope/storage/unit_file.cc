// SPDX-License-Identifier: BSD-3-Clause
//
// The format; everything is text except the units themselves:
//
//   SHA-256 of the table, a space, its number of bytes, a line end
//   table:  digest of the run, a line end; for each unit its name, a tab, its number of bytes,
//           a tab, its SHA-256, a line end
//   the units, one after the other
#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/parse_number.h>
#include <hesscope/storage/atomic_file.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/storage/sha256.h>
#include <hesscope/storage/unit_file.h>

namespace hesscope::io {
namespace {

constexpr std::size_t kDigestLength = 64;
constexpr std::size_t kMaxHeadLength = kDigestLength + 24;  // of the first line
constexpr std::uint64_t kMaxTableBytes = std::uint64_t{64} << 20;

// Removes the text up to and including `end` from the front and returns it without `end`; nothing
// if there is no `end`.
std::optional<std::string_view> take_until(char end, std::string_view& rest) {
  const std::size_t length = rest.find(end);
  if (length == std::string_view::npos) return std::nullopt;
  const std::string_view part = rest.substr(0, length);
  rest.remove_prefix(length + 1);
  return part;
}

// The table's text, and where the units begin; nothing if its digest does not match.
std::optional<std::pair<std::string, std::uint64_t>> table_text(const InputFile& file) {
  const std::string head = file.text_at(0, kMaxHeadLength);
  std::string_view rest = head;
  const auto line = take_until('\n', rest);
  if (!line || line->size() <= kDigestLength || (*line)[kDigestLength] != ' ') return std::nullopt;
  const auto size = parse_number<std::uint64_t>(line->substr(kDigestLength + 1));
  if (!size || *size > std::min(kMaxTableBytes, file.size())) return std::nullopt;
  std::string text = file.text_at(line->size() + 1, *size);
  if (text.size() != *size || sha256_of_text(text) != line->substr(0, kDigestLength)) {
    return std::nullopt;
  }
  const std::uint64_t end = line->size() + 1 + text.size();
  return std::pair(std::move(text), end);
}

}  // namespace

std::optional<UnitTable> read_unit_table(const std::filesystem::path& path) {
  try {
    const InputFile file(path);
    const auto found = table_text(file);
    if (!found) return std::nullopt;
    std::string_view rest = found->first;
    UnitTable table;
    const auto run = take_until('\n', rest);
    if (!run) return std::nullopt;
    table.run = *run;
    std::uint64_t offset = found->second;
    while (!rest.empty()) {
      const auto name = take_until('\t', rest);
      const auto digits = take_until('\t', rest);
      const auto sha256 = take_until('\n', rest);
      const auto size = digits ? parse_number<std::uint64_t>(*digits) : std::nullopt;
      if (!name || !size || !sha256 || *size > file.size() - offset) return std::nullopt;
      table.units.push_back({std::string(*name), offset, *size, std::string(*sha256)});
      offset += *size;
    }
    if (table.units.empty() || offset != file.size()) return std::nullopt;
    return table;
  } catch (const MissingFileError&) {
    throw;
  } catch (const UnreadableFileError&) {
    throw;
  } catch (const InputError&) {
    return std::nullopt;  // not a regular file, or too short
  }
}

std::optional<std::string> read_unit(const std::filesystem::path& path, const StoredUnit& unit) {
  try {
    const InputFile file(path);
    if (unit.offset > file.size() || unit.size > file.size() - unit.offset) return std::nullopt;
    std::string bytes(unit.size, '\0');
    file.read_at(unit.offset, std::as_writable_bytes(std::span(bytes)));
    if (sha256_of_text(bytes) != unit.sha256) return std::nullopt;
    return bytes;
  } catch (const MissingFileError&) {
    throw;
  } catch (const UnreadableFileError&) {
    throw;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

UnitTable write_units(const std::filesystem::path& path,
                      const std::string& run,
                      const std::map<std::string, std::string>& units) {
  UnitTable table{run, {}};
  std::string text = run + '\n';
  std::uint64_t num_bytes = 0;
  for (const auto& [name, bytes] : units) {
    const std::string sha256 = sha256_of_text(bytes);
    table.units.push_back({name, num_bytes, bytes.size(), sha256});
    text += fmt::format("{}\t{}\t{}\n", name, bytes.size(), sha256);
    num_bytes += bytes.size();
  }
  std::string all = fmt::format("{} {}\n{}", sha256_of_text(text), text.size(), text);
  for (StoredUnit& unit : table.units) unit.offset += all.size();
  all.reserve(all.size() + num_bytes);
  for (const auto& [name, bytes] : units) all += bytes;
  write_whole(path, all, Existing::kReplace);
  return table;
}

}  // namespace hesscope::io
