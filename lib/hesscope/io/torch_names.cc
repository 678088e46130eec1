// SPDX-License-Identifier: BSD-3-Clause
//
// Walks over the graph of a pickle along names, without recursion.
#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/io/pickle_view.h>
#include <hesscope/io/torch_tensors.h>

namespace hesscope::io {
namespace {

constexpr std::size_t kMaxDepth = 1000;
constexpr std::size_t kMaxRepeatedSteps = 500'000;  // in containers that were entered before
constexpr std::size_t kMaxNameBytes = 4096;

/// What a container or object holds, under a key or at a position.
struct Child {
  PickleIndex key = kNoNode;
  std::size_t position = 0;
  PickleIndex node = kNoNode;
};

bool has_children(PickleKind kind) {
  return kind == PickleKind::kTuple || kind == PickleKind::kList || kind == PickleKind::kSet ||
         kind == PickleKind::kDict || kind == PickleKind::kObject;
}

class Children {
 public:
  explicit Children(const PickleDocument& document) : document_(document) {}

  std::vector<Child> of(PickleIndex node) const {
    std::vector<Child> all;
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

 private:
  void add_elements(PickleIndex node, std::vector<Child>& all) const {
    if (!has_children(document_.kind(node)) || document_.kind(node) == PickleKind::kObject) return;
    const std::vector<PickleIndex> elements = document_.elements(node);
    const bool is_dict = document_.kind(node) == PickleKind::kDict;
    for (std::size_t i = 0; i < elements.size(); i += is_dict ? 2 : 1) {
      all.push_back(is_dict ? Child{elements[i], i / 2, elements[i + 1]}
                            : Child{kNoNode, i, elements[i]});
    }
  }

  /// Attributes; those of __slots__ are the second of two dicts. Any other state has no names.
  void add_state(PickleIndex state, std::vector<Child>& all) const {
    if (document_.kind(state) == PickleKind::kTuple && document_.num_elements(state) == 2) {
      const std::vector<PickleIndex> parts = document_.elements(state);
      const auto is_attributes = [&](PickleIndex part) {
        return document_.kind(part) == PickleKind::kDict ||
               document_.kind(part) == PickleKind::kNone;
      };
      if (std::ranges::all_of(parts, is_attributes)) {
        for (const PickleIndex part : parts) add_elements(part, all);
        return;
      }
    }
    add_elements(state, all);
  }

  PickleIndex attribute(PickleIndex state, std::string_view name) const {
    const std::vector<PickleIndex> elements = document_.elements(state);
    for (std::size_t i = 0; i + 1 < elements.size(); i += 2) {
      if (document_.kind(elements[i]) == PickleKind::kText && document_.text(elements[i]) == name) {
        return elements[i + 1];
      }
    }
    return kNoNode;
  }

  /// Of a torch.nn.Module what its state_dict() has: parameters, persistent buffers, modules.
  bool add_module(PickleIndex state, std::vector<Child>& all) const {
    if (state == kNoNode || document_.kind(state) != PickleKind::kDict) return false;
    std::vector<PickleIndex> parts;
    for (const std::string_view name : {"_parameters", "_buffers", "_modules"}) {
      parts.push_back(attribute(state, name));
      if (parts.back() == kNoNode || document_.kind(parts.back()) != PickleKind::kDict)
        return false;
    }
    add_elements(parts[0], all);
    std::unordered_set<std::string_view> left_out;
    if (const PickleIndex set = attribute(state, "_non_persistent_buffers_set");
        set != kNoNode && document_.kind(set) == PickleKind::kSet) {
      for (const PickleIndex name : document_.elements(set)) {
        if (document_.kind(name) == PickleKind::kText) left_out.insert(document_.text(name));
      }
    }
    std::vector<Child> buffers;
    add_elements(parts[1], buffers);
    std::ranges::copy_if(buffers, std::back_inserter(all), [&](const Child& buffer) {
      return document_.kind(buffer.key) != PickleKind::kText ||
             !left_out.contains(document_.text(buffer.key));
    });
    add_elements(parts[2], all);
    return true;
  }

  const PickleDocument& document_;
};

std::string label_of(const PickleDocument& document, const Child& child) {
  if (child.key == kNoNode) return fmt::format("{}", child.position);
  switch (document.kind(child.key)) {
    case PickleKind::kText:
      return std::string(document.text(child.key).substr(0, kMaxNameBytes + 1));
    case PickleKind::kInteger:
      return fmt::format("{}", document.integer(child.key));
    default:
      return fmt::format("[{}]", child.position);
  }
}

class TensorFinder : private PickleView {
 public:
  TensorFinder(const std::string& where, const PickleDocument& document, const ReadLimits& limits)
      : PickleView(where, document),
        limits_(limits),
        children_(document),
        was_entered_(document.num_nodes()),
        is_on_path_(document.num_nodes()),
        is_barren_(document.num_nodes()) {}

  std::vector<NamedNode> find(const std::string& root_name) && {
    const PickleIndex root = document_.root();
    if (is_torch_tensor(document_, root)) {
      found_.push_back({root_name, root});
    } else if (has_children(document_.kind(root))) {
      enter(root);
    }
    while (!path_.empty()) {
      Step& step = path_.back();
      if (step.next == step.children.size()) {
        leave();
      } else {
        visit(step, step.children[step.next++]);
      }
    }
    return std::move(found_);
  }

 private:
  struct Step {
    PickleIndex node;
    std::vector<Child> children;
    std::size_t next = 0;
    std::size_t name_bytes = 0;
    bool has_tensors = false;
    std::size_t lowest_cut =
        std::numeric_limits<std::size_t>::max();  // depth that a cycle leads to
  };

  void visit(Step& step, const Child& child) {
    const PickleKind kind = document_.kind(child.node);
    if (!has_children(kind) || is_barren_[child.node]) return;
    if (is_on_path_[child.node]) {
      const auto target = std::ranges::find(path_, child.node, &Step::node);
      step.lowest_cut = std::min(step.lowest_cut, static_cast<std::size_t>(target - path_.begin()));
      return;
    }
    name_.resize(step.name_bytes);
    if (path_.size() > 1) name_ += '.';
    name_ += label_of(document_, child);
    if (is_torch_tensor(document_, child.node)) {
      step.has_tensors = true;
      add(child.node);
    } else {
      enter(child.node);
    }
  }

  void add(PickleIndex node) {
    if (!is_printable_utf8(name_) || name_.empty() || name_.size() > kMaxNameBytes) {
      refuse(node,
             "a tensor's name is empty, longer than {} bytes, or not UTF-8 text: '{}'",
             kMaxNameBytes,
             escaped(std::string_view(name_).substr(0, 100)));
    }
    num_name_bytes_ += name_.size();
    if (found_.size() >= limits_.max_tensors || num_name_bytes_ > limits_.max_header_bytes) {
      refuse(node,
             "there are more than {} tensors, or their names are longer than {} bytes",
             limits_.max_tensors,
             limits_.max_header_bytes);
    }
    found_.push_back({name_, node});
  }

  void enter(PickleIndex node) {
    if (path_.size() >= kMaxDepth) refuse(node, "it nests deeper than {} levels", kMaxDepth);
    is_on_path_[node] = true;
    path_.push_back({.node = node, .children = children_.of(node), .name_bytes = name_.size()});
    if (was_entered_[node]) num_repeated_steps_ += 1 + path_.back().children.size();
    was_entered_[node] = true;
    if (num_repeated_steps_ > kMaxRepeatedSteps) {
      refuse(node, "too many paths lead to what it holds (more than {} steps)", kMaxRepeatedSteps);
    }
    refuse_repeated_keys(node);
  }

  // Readers disagree on which of two equal keys counts.
  void refuse_repeated_keys(PickleIndex node) const {
    std::unordered_set<std::string_view> texts;
    std::unordered_set<std::int64_t> integers;
    for (const Child& child : path_.back().children) {
      if (child.key == kNoNode) continue;
      const PickleKind kind = document_.kind(child.key);
      const bool is_new =
          kind == PickleKind::kText      ? texts.emplace(document_.text(child.key)).second
          : kind == PickleKind::kInteger ? integers.insert(document_.integer(child.key)).second
                                         : true;
      if (!is_new) refuse(node, "the key '{}' occurs twice", escaped(label_of(document_, child)));
    }
  }

  void leave() {
    const std::size_t depth = path_.size() - 1;
    const Step step = std::move(path_.back());
    path_.pop_back();
    is_on_path_[step.node] = false;
    const bool is_cut = step.lowest_cut < depth;  // what an open container holds is not yet known
    is_barren_[step.node] = !step.has_tensors && !is_cut;
    if (path_.empty()) return;
    Step& parent = path_.back();
    parent.has_tensors = parent.has_tensors || step.has_tensors;
    if (is_cut) parent.lowest_cut = std::min(parent.lowest_cut, step.lowest_cut);
  }

  const ReadLimits& limits_;
  Children children_;
  std::vector<bool> was_entered_;
  std::vector<bool> is_on_path_;
  std::vector<bool> is_barren_;  // no tensors can be reached from the node
  std::vector<Step> path_;
  std::string name_;
  std::size_t num_repeated_steps_ = 0;
  std::size_t num_name_bytes_ = 0;
  std::vector<NamedNode> found_;
};

}  // namespace

std::vector<NamedNode> find_torch_tensors(const std::string& where,
                                          const PickleDocument& document,
                                          const std::string& root_name,
                                          const ReadLimits& limits) {
  return TensorFinder(where, document, limits).find(root_name);
}

std::optional<double> find_number(const PickleDocument& document, std::string_view name) {
  constexpr std::size_t kMaxSteps = 10'000;
  const Children children(document);
  std::vector<std::pair<PickleIndex, std::string_view>> open = {{document.root(), name}};
  for (std::size_t i = 0; i < open.size() && i < kMaxSteps; ++i) {
    const auto [node, rest] = open[i];
    if (!has_children(document.kind(node))) continue;
    for (const Child& child : children.of(node)) {
      const std::string label = label_of(document, child);
      if (!rest.starts_with(label)) continue;
      const std::string_view beyond = rest.substr(label.size());
      if (beyond.starts_with('.')) open.emplace_back(child.node, beyond.substr(1));
      if (!beyond.empty()) continue;
      const PickleKind kind = document.kind(child.node);
      if (kind == PickleKind::kReal) return document.real(child.node);
      if (kind == PickleKind::kInteger || kind == PickleKind::kBool) {
        return static_cast<double>(document.integer(child.node));
      }
    }
  }
  return std::nullopt;
}

}  // namespace hesscope::io
