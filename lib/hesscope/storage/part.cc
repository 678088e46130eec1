// SPDX-License-Identifier: BSD-3-Clause
#include <charconv>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <hesscope/storage/part.h>

namespace hesscope::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPart = ".part-";
constexpr std::string_view kOf = "-of-";

// Removes `expected` from the beginning of `text`. @returns whether it was there.
bool take_text(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

bool take_number(std::string_view& text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool is_there(const Part& part) {
  return part.index >= 0 && part.index < part.count && part.count <= kMostParts;
}

// Parses the name of a part's folder or lock.
std::optional<Part> part_in(std::string_view name, std::string_view output) {
  Part part;
  const bool is_one = take_text(name, output) && take_text(name, kPart) &&
                      take_number(name, part.index) && take_text(name, kOf) &&
                      take_number(name, part.count) && (name == ".units" || name == ".lock");
  return is_one && is_there(part) ? std::optional(part) : std::nullopt;
}

void require_one(const Part& part) {
  if (is_there(part)) return;
  throw PreconditionError(
      fmt::format("Part: there is no part {} of {}; parts are numbered from 0, and at most {}",
                  part.index,
                  part.count,
                  kMostParts));
}

}  // namespace

bool Part::is_dealt(std::size_t unit) const {
  require_one(*this);
  return unit % static_cast<std::size_t>(count) == static_cast<std::size_t>(index);
}

std::pair<std::size_t, std::size_t> Part::range(std::size_t num_units) const {
  require_one(*this);
  const auto begin = [&](int part) {
    return num_units * static_cast<std::size_t>(part) / static_cast<std::size_t>(count);
  };
  return {begin(index), begin(index + 1)};
}

std::string Part::text() const { return fmt::format("{}/{}", index, count); }

fs::path place_of(const fs::path& output, const Part& part) {
  require_one(part);
  fs::path place = output;
  place += fmt::format("{}{}{}{}", kPart, part.index, kOf, part.count);
  return place;
}

std::vector<Part> parts_at(const fs::path& output) {
  const std::string name = output.filename().string();
  std::set<Part> parts;
  std::error_code error;
  for (fs::directory_iterator entry(output.has_parent_path() ? output.parent_path() : ".", error),
       end;
       !error && entry != end;
       entry.increment(error)) {
    if (const auto part = part_in(entry->path().filename().string(), name)) parts.insert(*part);
  }
  return {parts.begin(), parts.end()};
}

}  // namespace hesscope::io
