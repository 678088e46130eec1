// SPDX-License-Identifier: BSD-3-Clause
//
// Finds tensors in the graph of a pickle, by a traversal without recursion.
#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include <hesscope/core/printable.h>
#include <hesscope/tensors/internal/torch/pickle_children.h>
#include <hesscope/tensors/internal/torch/pickle_view.h>
#include <hesscope/tensors/internal/torch/torch_tensors.h>

namespace hesscope::io {
namespace {

constexpr std::size_t kMaxDepth = 1000;
constexpr std::size_t kMaxRepeatedSteps = 500'000;  // in containers that were entered before
constexpr std::size_t kMaxNameBytes = PickleChildren::kMaxNameBytes;

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
    std::vector<PickleChild> children;
    std::size_t next = 0;
    std::size_t name_bytes = 0;
    bool has_tensors = false;
    std::size_t lowest_cut =
        std::numeric_limits<std::size_t>::max();  // depth to which a cycle leads back
  };

  void visit(Step& step, const PickleChild& child) {
    const PickleKind kind = document_.kind(child.node);
    if (!has_children(kind) || is_barren_[child.node]) return;
    if (is_on_path_[child.node]) {
      const auto target = std::ranges::find(path_, child.node, &Step::node);
      step.lowest_cut = std::min(step.lowest_cut, static_cast<std::size_t>(target - path_.begin()));
      return;
    }
    name_.resize(step.name_bytes);
    if (path_.size() > 1) name_ += '.';
    name_ += children_.label(child);
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
             "a tensor's name is empty, longer than {} bytes, or not UTF-8 text without control "
             "characters: '{}'",
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
    if (children_.has_read_too_much()) {
      refuse(node,
             "it holds the same things in too many places (more than {} in all)",
             PickleChildren::kMostRead);
    }
    if (was_entered_[node]) num_repeated_steps_ += 1 + path_.back().children.size();
    was_entered_[node] = true;
    if (num_repeated_steps_ > kMaxRepeatedSteps) {
      refuse(node, "too many paths lead to what it holds (more than {} steps)", kMaxRepeatedSteps);
    }
    refuse_repeated_keys(node);
  }

  // The beginning of a key: a single key of megabytes may occur in very many dicts.
  std::string_view beginning(PickleIndex key) const {
    return document_.text(key).substr(0, kMaxNameBytes + 1);
  }

  // Readers disagree about which of two equal keys counts. Compares no more than the length limit
  // of names.
  void refuse_repeated_keys(PickleIndex node) const {
    std::unordered_set<std::string_view> texts;
    std::unordered_set<std::int64_t> integers;
    for (const PickleChild& child : path_.back().children) {
      if (child.key == kNoNode) continue;
      const PickleKind kind = document_.kind(child.key);
      const bool is_new = kind == PickleKind::kText ? texts.emplace(beginning(child.key)).second
                          : kind == PickleKind::kInteger
                              ? integers.insert(document_.integer(child.key)).second
                              : true;
      if (!is_new) refuse(node, "the key '{}' occurs twice", escaped(children_.label(child)));
    }
  }

  void leave() {
    const std::size_t depth = path_.size() - 1;
    const Step step = std::move(path_.back());
    path_.pop_back();
    is_on_path_[step.node] = false;
    const bool is_cut = step.lowest_cut < depth;  // contents of an open container are not yet known
    is_barren_[step.node] = !step.has_tensors && !is_cut;
    if (path_.empty()) return;
    Step& parent = path_.back();
    parent.has_tensors = parent.has_tensors || step.has_tensors;
    if (is_cut) parent.lowest_cut = std::min(parent.lowest_cut, step.lowest_cut);
  }

  const ReadLimits& limits_;
  PickleChildren children_;
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

}  // namespace hesscope::io
