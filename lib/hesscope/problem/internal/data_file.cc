// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/problem/internal/data_file.h>
#include <hesscope/problem/internal/toml_tables.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/tensor_map.h>

namespace hesscope::detail {

namespace {

// For a tuple, "0", "1", ..., maps its arrays in the model's order; no rules for anything else.
io::TensorMap arrays_of_tuple(const io::TensorFile& file,
                              const std::string& model_kind,
                              const std::filesystem::path& place) {
  io::TensorMap map{.place = place.string()};
  const ModelKind* const kind = find_model_kind(model_kind);
  if (kind == nullptr || kind->arrays.size() != file.tensors().size()) return map;
  for (std::size_t i = 0; i < kind->arrays.size(); ++i) {
    const std::string position = fmt::format("{}", i);
    if (file.tensors()[i].name != position) return {};
    map.rules.push_back({.name = kind->arrays[i], .source = position, .place = map.place});
  }
  return map;
}

}  // namespace

io::TensorMap take_arrays(TomlTable& data) {
  io::TensorMap map;
  const auto arrays = data.tables.find("arrays");
  if (arrays == data.tables.end()) {
    if (!data.locations.contains("arrays")) return map;
    refuse(data.place("arrays"), "'arrays' must be a table, [data.arrays]");
  }
  map.place = arrays->second.place();
  for (const auto& [name, place] : arrays->second.locations) {
    if (name.empty()) continue;
    io::TensorRule rule{.name = name, .place = place};
    const auto value = arrays->second.values.find(name);
    const bool is_there = value != arrays->second.values.end();
    if (is_there && std::holds_alternative<std::string>(value->second)) {
      rule.source = std::get<std::string>(value->second);
    } else if (is_there && std::holds_alternative<std::int64_t>(value->second)) {
      rule.source = fmt::format("{}", std::get<std::int64_t>(value->second));
    }
    if (rule.source.empty() || (rule.name + rule.source).find('*') != std::string::npos) {
      refuse(place,
             fmt::format("'{}' in [data.arrays] must be the name of an array in the data "
                         "file, without '*'; of a tuple, \"0\", \"1\", ...",
                         name));
    }
    map.rules.push_back(std::move(rule));
  }
  data.tables.erase("arrays");
  data.locations.erase("arrays");
  return map;
}

std::string arrays_toml(const io::TensorMap& arrays) {
  std::string text = arrays.rules.empty() ? "" : "\n[data.arrays]\n";
  for (const io::TensorRule& rule : arrays.rules) {
    text += fmt::format("{} = {}\n", toml_text(rule.name), toml_text(rule.source));
  }
  return text;
}

io::TensorFile open_data(const std::filesystem::path& path,
                         const io::TensorMap& arrays,
                         const std::string& model_kind,
                         const std::filesystem::path& place,
                         const std::stop_token& stop) {
  const io::TensorFile file =
      io::open_tensor_file(std::make_shared<io::InputFile>(path, io::InputFile::kCheckpoint, stop));
  if (arrays.rules.empty()) {
    const io::TensorMap tuple = arrays_of_tuple(file, model_kind, place);
    return tuple.rules.empty() ? file : io::mapped(file, tuple);
  }
  io::TensorMap map = arrays;
  // A named array replaces one that merely happens to have that name.
  for (const io::TensorRule& rule : arrays.rules) map.ignored.push_back(rule.name);
  return io::mapped(file, map);
}

void require_known_arrays(const io::TensorMap& arrays,
                          const std::string& model_kind,
                          std::span<const std::string> names) {
  for (const io::TensorRule& rule : arrays.rules) {
    if (std::ranges::find(names, rule.name) != names.end()) continue;
    throw ConfigError(
        fmt::format("{}: unknown array '{}' in [data.arrays]{}; the {} model takes {}",
                    rule.place,
                    rule.name,
                    did_you_mean(rule.name, names),
                    model_kind,
                    fmt::join(names, ", ")));
  }
}

namespace {

using Assignment = std::vector<std::pair<std::string, std::string>>;  // ours, theirs

TensorShapes renamed(const TensorShapes& data, const Assignment& assignment) {
  TensorShapes shapes = data;
  for (const auto& [ours, theirs] : assignment) {
    shapes.shapes[ours] = data.shapes.at(theirs);
    shapes.unreadable.erase(ours);
    const auto type = data.types.find(theirs);
    if (type != data.types.end()) shapes.types[ours] = type->second;
  }
  if (data.read) {
    shapes.read = [read = data.read, assignment](const std::string& name) {
      const auto found = std::ranges::find(assignment, name, &Assignment::value_type::first);
      return read(found == assignment.end() ? name : found->second);
    };
  }
  return shapes;
}

}  // namespace

std::string suggested_arrays(const ModelKind& kind,
                             const TensorShapes& data,
                             const std::function<bool(const TensorShapes&)>& fits) {
  constexpr std::size_t kMaxTried = 400;
  std::vector<std::string> missing;
  for (const std::string& name : kind.arrays) {
    if (!data.shapes.contains(name)) missing.push_back(name);
  }
  std::vector<std::string> candidates;
  for (const auto& [name, shape] : data.shapes) {
    const bool is_ours = std::ranges::find(kind.arrays, name) != kind.arrays.end();
    if (!shape.empty() && !is_ours) candidates.push_back(name);
  }
  if (missing.empty()) return {};
  std::vector<Assignment> open = {{}};
  for (const std::string& ours : missing) {
    std::vector<Assignment> longer;
    for (const Assignment& assignment : open) {
      for (const std::string& theirs : candidates) {
        const bool is_taken = std::ranges::any_of(
            assignment, [&](const auto& pair) { return pair.second == theirs; });
        if (is_taken) continue;
        longer.push_back(assignment);
        longer.back().emplace_back(ours, theirs);
      }
    }
    open = std::move(longer);
    if (open.size() > kMaxTried) return {};
  }
  const Assignment* found = nullptr;
  for (const Assignment& assignment : open) {
    if (!fits(renamed(data, assignment))) continue;
    if (found != nullptr) return {};
    found = &assignment;
  }
  if (found == nullptr) return {};
  std::vector<std::string> texts;
  for (const auto& [ours, theirs] : *found) {
    texts.push_back(fmt::format("{} = {}", ours, toml_text(theirs)));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace hesscope::detail
