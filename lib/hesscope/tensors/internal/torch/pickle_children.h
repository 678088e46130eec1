// SPDX-License-Identifier: BSD-3-Clause
//
// Traversal of a pickle's graph by names: what a container or object holds, and under which label.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/tensors/internal/torch/pickle.h>
#include <hesscope/tensors/internal/torch/pickle_nodes.h>

namespace hesscope::io {

/// An element of a container or object, under a key or at a position.
struct PickleChild {
  PickleIndex key = kNoNode;
  std::size_t position = 0;
  PickleIndex node = kNoNode;
};

/// True for containers and objects.
bool has_children(PickleKind kind);

/// Elements of containers, and attributes of objects. For a torch.nn.Module they are what its
/// state_dict() has: parameters, persistent buffers, modules. A pickle can refer from very many
/// places to something that it stores once; therefore those who traverse it count what they read.
class PickleChildren {
 public:
  /// `document` must outlive this.
  explicit PickleChildren(const PickleDocument& document) : document_(document) {}

  /// In the order of the pickle. Empty if there are no children.
  std::vector<PickleChild> of(PickleIndex node);

  /// Whether more elements have been read (counting each visit of a container) than any file needs:
  /// four times as many as a pickle may have.
  bool has_read_too_much() const { return num_read_ > kMostRead; }

  /// The key as text if it is text or a number, cut after kMaxNameBytes + 1; a position in a list;
  /// "[3]" for other keys.
  std::string label(const PickleChild& child) const;

  static constexpr std::size_t kMaxNameBytes = 4096;
  static constexpr std::size_t kMostRead = 4 * PickleLimits{}.max_nodes;

 private:
  std::vector<PickleIndex> elements(PickleIndex node);
  void add_elements(PickleIndex node, std::vector<PickleChild>& all);
  void add_state(PickleIndex state, std::vector<PickleChild>& all);
  PickleIndex attribute(PickleIndex state, std::string_view name);
  bool add_module(PickleIndex state, std::vector<PickleChild>& all);

  const PickleDocument& document_;
  std::size_t num_read_ = 0;
};

}  // namespace hesscope::io
