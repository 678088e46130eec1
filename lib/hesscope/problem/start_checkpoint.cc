// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <hesscope/problem/internal/experiment_reading.h>
#include <hesscope/problem/internal/toml_tables.h>
#include <hesscope/problem/start_checkpoint.h>

namespace hesscope {

std::filesystem::path StartCheckpoint::of_seed(std::uint64_t seed) const {
  if (path.empty()) {
    detail::refuse(
        location,
        fmt::format("'from = \"{}\"' names a run of a reproduction; without one, name a file "
                    "by 'from_checkpoint'",
                    run));
  }
  std::string text = path.string();
  const std::string placeholder = "{seed}";
  for (std::size_t at = 0; (at = text.find(placeholder, at)) != std::string::npos;) {
    const std::string number = fmt::format("{}", seed);
    text.replace(at, placeholder.size(), number);
    at += number.size();
  }
  return text;
}

namespace detail {

std::optional<StartCheckpoint> take_start(TomlTable& table, const std::filesystem::path& folder) {
  std::optional<StartCheckpoint> start;
  for (const char* key : {"from_checkpoint", "from"}) {
    if (!table.locations.contains(key)) continue;
    const std::string place = table.place(key);
    if (start) refuse(place, "'from' and 'from_checkpoint' exclude each other");
    const auto found = table.values.find(key);
    const auto* text =
        found == table.values.end() ? nullptr : std::get_if<std::string>(&found->second);
    if (text == nullptr || text->empty()) refuse(place, fmt::format("'{}' must be text", key));
    start = StartCheckpoint{.path = {}, .run = {}, .location = place};
    if (key == std::string("from")) {
      start->run = *text;
    } else {
      start->path = folder / *text;
    }
    table.values.erase(key);
    table.locations.erase(key);
  }
  return start;
}

}  // namespace detail
}  // namespace hesscope
