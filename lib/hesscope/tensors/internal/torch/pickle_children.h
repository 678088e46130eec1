// SPDX-License-Identifier: BSD-3-Clause
//
// The graph of a pickle by names: what a container or object holds, and under which label.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/tensors/internal/torch/pickle_nodes.h>

namespace hesscope::io {

/// What a container or object holds, under a key or at a position.
struct PickleChild {
  PickleIndex key = kNoNode;
  std::size_t position = 0;
  PickleIndex node = kNoNode;
};

/// True for containers and objects.
bool has_children(PickleKind kind);

/// Elements of containers, and attributes of objects. Of a torch.nn.Module it is what its
/// state_dict() has: parameters, persistent buffers, modules.
class PickleChildren {
 public:
  /// `document` must outlive this.
  explicit PickleChildren(const PickleDocument& document) : document_(document) {}

  /// In the order of the pickle. Empty for what has no children.
  std::vector<PickleChild> of(PickleIndex node) const;

  /// A key that is text or a number as text, text cut after kMaxNameBytes + 1; a position in a
  /// list; "[3]" for other keys.
  std::string label(const PickleChild& child) const;

  static constexpr std::size_t kMaxNameBytes = 4096;

 private:
  void add_elements(PickleIndex node, std::vector<PickleChild>& all) const;
  void add_state(PickleIndex state, std::vector<PickleChild>& all) const;
  PickleIndex attribute(PickleIndex state, std::string_view name) const;
  bool add_module(PickleIndex state, std::vector<PickleChild>& all) const;

  const PickleDocument& document_;
};

}  // namespace hesscope::io
