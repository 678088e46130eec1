// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: where a tape keeps its numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/autodiff/internal/node_reverse.h>
#include <hesscope/simd/internal/lane.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

/// Values and adjoints of a graph's nodes, on the base scalar T.
template <typename T>
class NodeNumbers {
 public:
  explicit NodeNumbers(std::span<const Graph::Node> nodes) : nodes_(nodes) {}

  /// Room for `copies` of the entries of each node in turn; a kReshape has those of its operand.
  void place(std::int32_t node, Eigen::Index copies) {
    const Graph::Node& n = nodes_[static_cast<std::size_t>(node)];
    if (n.op == Graph::Op::kReshape) {
      first_.push_back(first(n.a));
    } else {
      first_.push_back(size_);
      size_ += copies * n.size();
    }
  }

  void allocate() {
    values_.resize(static_cast<std::size_t>(size_));
    adjoints_.resize(static_cast<std::size_t>(size_));
  }

  T* values(std::int32_t node) { return values_.data() + first(node); }

  T* adjoints(std::int32_t node) { return adjoints_.data() + first(node); }

  void clear_adjoints(std::int32_t node, Eigen::Index copies) {
    const Graph::Node& n = nodes_[static_cast<std::size_t>(node)];
    if (n.op == Graph::Op::kReshape) return;
    T* const all = adjoints(node);
    for (Eigen::Index e = 0; e < copies * n.size(); ++e) all[e] = T();
  }

 private:
  Eigen::Index first(std::int32_t node) const { return first_[static_cast<std::size_t>(node)]; }

  std::span<const Graph::Node> nodes_;
  std::vector<Eigen::Index> first_;
  Eigen::Index size_ = 0;
  std::vector<T> values_;
  std::vector<T> adjoints_;
};

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
