// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <unordered_set>

#include <fmt/format.h>

#include <hesscope/tensors/internal/torch/pickle_children.h>

namespace hesscope::io {

bool has_children(PickleKind kind) {
  return kind == PickleKind::kTuple || kind == PickleKind::kList || kind == PickleKind::kSet ||
         kind == PickleKind::kDict || kind == PickleKind::kObject;
}

std::vector<PickleChild> PickleChildren::of(PickleIndex node) {
  std::vector<PickleChild> all;
  if (document_.kind(node) != PickleKind::kObject) {
    add_elements(node, all);
    return all;
  }
  const PickledObject object = document_.object(node);
  if (add_module(object.state, all)) return all;
  add_elements(object.arguments, all);
  if (object.contents != kNoNode) add_elements(object.contents, all);
  if (object.state != kNoNode) add_state(object.state, all);
  return all;
}

std::vector<PickleIndex> PickleChildren::elements(PickleIndex node) {
  num_read_ += document_.num_elements(node);
  return document_.elements(node);
}

void PickleChildren::add_elements(PickleIndex node, std::vector<PickleChild>& all) {
  if (!has_children(document_.kind(node)) || document_.kind(node) == PickleKind::kObject) return;
  const std::vector<PickleIndex> entries = elements(node);
  const bool is_dict = document_.kind(node) == PickleKind::kDict;
  for (std::size_t i = 0; i < entries.size(); i += is_dict ? 2 : 1) {
    all.push_back(is_dict ? PickleChild{entries[i], i / 2, entries[i + 1]}
                          : PickleChild{kNoNode, i, entries[i]});
  }
}

// Attributes; those of __slots__ are in the second of two dicts. Any other state has no names.
void PickleChildren::add_state(PickleIndex state, std::vector<PickleChild>& all) {
  if (document_.kind(state) == PickleKind::kTuple && document_.num_elements(state) == 2) {
    const std::vector<PickleIndex> parts = elements(state);
    const auto is_attributes = [&](PickleIndex part) {
      return document_.kind(part) == PickleKind::kDict || document_.kind(part) == PickleKind::kNone;
    };
    if (std::ranges::all_of(parts, is_attributes)) {
      for (const PickleIndex part : parts) add_elements(part, all);
      return;
    }
  }
  add_elements(state, all);
}

PickleIndex PickleChildren::attribute(PickleIndex state, std::string_view name) {
  const std::vector<PickleIndex> entries = elements(state);
  for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
    if (document_.kind(entries[i]) == PickleKind::kText && document_.text(entries[i]) == name) {
      return entries[i + 1];
    }
  }
  return kNoNode;
}

// For a torch.nn.Module: what its state_dict() has.
bool PickleChildren::add_module(PickleIndex state, std::vector<PickleChild>& all) {
  if (state == kNoNode || document_.kind(state) != PickleKind::kDict) return false;
  std::vector<PickleIndex> parts;
  for (const std::string_view name : {"_parameters", "_buffers", "_modules"}) {
    parts.push_back(attribute(state, name));
    if (parts.back() == kNoNode || document_.kind(parts.back()) != PickleKind::kDict) return false;
  }
  add_elements(parts[0], all);
  std::unordered_set<std::string_view> left_out;
  if (const PickleIndex set = attribute(state, "_non_persistent_buffers_set");
      set != kNoNode && document_.kind(set) == PickleKind::kSet) {
    for (const PickleIndex name : elements(set)) {
      if (document_.kind(name) == PickleKind::kText) left_out.insert(document_.text(name));
    }
  }
  std::vector<PickleChild> buffers;
  add_elements(parts[1], buffers);
  std::ranges::copy_if(buffers, std::back_inserter(all), [&](const PickleChild& buffer) {
    return document_.kind(buffer.key) != PickleKind::kText ||
           !left_out.contains(document_.text(buffer.key));
  });
  add_elements(parts[2], all);
  return true;
}

std::string PickleChildren::label(const PickleChild& child) const {
  if (child.key == kNoNode) return fmt::format("{}", child.position);
  switch (document_.kind(child.key)) {
    case PickleKind::kText:
      return std::string(document_.text(child.key).substr(0, kMaxNameBytes + 1));
    case PickleKind::kInteger:
      return fmt::format("{}", document_.integer(child.key));
    default:
      return fmt::format("[{}]", child.position);
  }
}

}  // namespace hesscope::io
