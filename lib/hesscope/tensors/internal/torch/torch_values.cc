// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers, truth values and texts in the graph of a pickle.
#include <utility>
#include <variant>

#include <hesscope/core/printable.h>
#include <hesscope/tensors/internal/torch/numpy_scalars.h>
#include <hesscope/tensors/internal/torch/pickle_children.h>
#include <hesscope/tensors/internal/torch/torch_tensors.h>

namespace hesscope::io {
namespace {

// A pickle of a few bytes may contain something a million times, by sharing it.
constexpr std::size_t kMaxListedDepth = 100;
constexpr std::size_t kMaxSteps = 200'000;
constexpr std::size_t kMaxValues = 50'000;
constexpr std::size_t kMaxOfOneList = 1000;
constexpr std::size_t kMaxListedNameBytes = 8 << 20;  // of all names
constexpr std::size_t kMaxTextBytes = 500;

class ValueFinder {
 public:
  explicit ValueFinder(const PickleDocument& document)
      : document_(document), children_(document), is_on_path_(document.num_nodes()) {}

  std::vector<FileValue> find() && {
    enter(document_.root());
    while (!path_.empty() && num_steps_ < kMaxSteps && found_.size() < kMaxValues &&
           num_name_bytes_ < kMaxListedNameBytes && !children_.has_read_too_much()) {
      Step& step = path_.back();
      if (step.next == step.children.size()) {
        is_on_path_[step.node] = false;
        path_.pop_back();
      } else {
        ++num_steps_;
        visit(step.name, step.children[step.next++]);
      }
    }
    return std::move(found_);
  }

 private:
  struct Step {
    PickleIndex node;
    std::string name;
    std::vector<PickleChild> children;
    std::size_t next = 0;
  };

  void enter(PickleIndex node, std::string name = {}) {
    if (!has_children(document_.kind(node)) || is_torch_tensor(document_, node)) return;
    if (is_on_path_[node] || path_.size() >= kMaxListedDepth) return;
    is_on_path_[node] = true;
    std::vector<PickleChild> children = children_.of(node);
    if (document_.kind(node) == PickleKind::kList && children.size() > kMaxOfOneList) {
      children.resize(kMaxOfOneList);
    }
    path_.push_back({node, std::move(name), std::move(children)});
  }

  // Not by reference: entering a container moves the steps.
  void visit(std::string parent, const PickleChild child) {
    std::string name = std::move(parent);
    if (!name.empty()) name += '.';
    name += children_.label(child);
    if (name.size() > PickleChildren::kMaxNameBytes || !is_printable_utf8(name)) return;
    switch (document_.kind(child.node)) {
      case PickleKind::kBool:
        return add(std::move(name), document_.integer(child.node) != 0);
      case PickleKind::kInteger:
        return add(std::move(name), document_.integer(child.node));
      case PickleKind::kReal:
        return add(std::move(name), document_.real(child.node));
      case PickleKind::kText: {
        const std::string_view text = document_.text(child.node);
        if (text.size() > kMaxTextBytes || !is_printable_utf8(text)) return;
        return add(std::move(name), std::string(text));
      }
      default:
        if (const auto number = numpy_scalar(document_, child.node)) {
          return std::visit([&](auto value) { add(std::move(name), value); }, *number);
        }
        enter(child.node, std::move(name));
    }
  }

  template <typename T>
  void add(std::string name, T value) {
    num_name_bytes_ += name.size();
    found_.push_back({std::move(name), std::move(value)});
  }

  const PickleDocument& document_;
  PickleChildren children_;
  std::vector<bool> is_on_path_;
  std::vector<Step> path_;
  std::size_t num_steps_ = 0;
  std::size_t num_name_bytes_ = 0;
  std::vector<FileValue> found_;
};

}  // namespace

std::vector<FileValue> find_values(const PickleDocument& document) {
  return ValueFinder(document).find();
}

std::optional<double> find_number(const PickleDocument& document, std::string_view name) {
  constexpr std::size_t kMaxLookedAt = 10'000;
  PickleChildren children(document);
  std::vector<std::pair<PickleIndex, std::string_view>> open = {{document.root(), name}};
  for (std::size_t i = 0; i < open.size() && i < kMaxLookedAt && !children.has_read_too_much();
       ++i) {
    const auto [node, rest] = open[i];
    if (!has_children(document.kind(node))) continue;
    for (const PickleChild& child : children.of(node)) {
      const std::string label = children.label(child);
      if (!rest.starts_with(label)) continue;
      const std::string_view beyond = rest.substr(label.size());
      if (beyond.starts_with('.')) open.emplace_back(child.node, beyond.substr(1));
      if (!beyond.empty()) continue;
      const PickleKind kind = document.kind(child.node);
      if (kind == PickleKind::kReal) return document.real(child.node);
      if (kind == PickleKind::kInteger || kind == PickleKind::kBool) {
        return static_cast<double>(document.integer(child.node));
      }
      if (const auto number = numpy_scalar(document, child.node)) {
        return std::visit([](auto value) { return static_cast<double>(value); }, *number);
      }
    }
  }
  return std::nullopt;
}

}  // namespace hesscope::io
