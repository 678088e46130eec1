// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: the numbers of a batch of samples, stored where batch_plan.h places
// them.
//
// A number for kLanes samples fills a register (lanes.h); these samples form a pack. The numbers of
// a node for all packs of a batch are stored together, entry e of pack p at [p * size + e], so that
// one visit of a node serves many samples, and an operation on its rows is one long loop. Nodes
// that depend on no sample are called common: they are plain numbers, which are spread to all lanes
// if operations other than products use them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <hesscope/autodiff/internal/batch_plan.h>
#include <hesscope/autodiff/internal/node_forward.h>
#include <hesscope/autodiff/sweep.h>
#include <hesscope/simd/internal/lane.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

class BatchNumbers {
 public:
  using B = detail::Lanes<kLanes, kSet>;
  using S = detail::Lanes<1, kSet>;  // a plain number, of a type that no other kernel source has
  using Node = Graph::Node;
  using Op = Graph::Op;

  static_assert(sizeof(B) == sizeof(Lane) && sizeof(S) == sizeof(double));

  /// Packs that are processed together.
  struct Part {
    Eigen::Index first;
    Eigen::Index count;
  };

  /// `graph` must outlive it.
  explicit BatchNumbers(const Graph& graph)
      : graph_(&graph),
        nodes_(graph.nodes()),
        plan_(graph, kLanes, kMaxPacks, kBatchBytes),
        common_values_(static_cast<std::size_t>(plan_.num_common)),
        common_adjoints_(static_cast<std::size_t>(plan_.num_common)),
        values_(static_cast<std::size_t>(plan_.num_values)),
        adjoints_(static_cast<std::size_t>(plan_.num_adjoints)),
        slopes_(static_cast<std::size_t>(plan_.num_slopes)) {}

  /// Upper bound of the memory of one object.
  static double bytes(const Graph& graph) {
    double entries = 0;
    double entries_of_packs = 0;
    for (const Node& n : graph.nodes()) {
      const auto size = static_cast<double>(n.size());
      entries += size;
      if (n.op != Op::kParameter && n.op != Op::kConstant) entries_of_packs += size;
    }
    const double of_one_pack = (3 * entries_of_packs + 1) * sizeof(B);
    return std::max(of_one_pack, std::min(kBatchBytes, kMaxPacks * of_one_pack)) +
           2 * entries * (sizeof(B) + sizeof(double));
  }

  const Graph& graph() const { return *graph_; }

  std::int32_t num_nodes() const { return static_cast<std::int32_t>(nodes_.size()); }

  const Node& node(std::int32_t i) const { return nodes_[static_cast<std::size_t>(i)]; }

  const detail::BatchNode& info(std::int32_t i) const { return plan_[i]; }

  Eigen::Index max_samples() const { return plan_.max_packs * kLanes; }

  Eigen::Index packs() const { return packs_; }  ///< of the current batch

  /// As S for common nodes, as B for others and for spread ones.
  template <typename T>
  T* values(std::int32_t i) {
    if constexpr (std::is_same_v<T, S>) {
      return common_values_.data() + info(i).common;
    } else {
      return values_.data() + info(i).value;
    }
  }

  template <typename T>
  T* adjoints(std::int32_t i) {
    if constexpr (std::is_same_v<T, S>) {
      return common_adjoints_.data() + info(i).common;
    } else {
      return adjoints_.data() + info(i).adjoint;
    }
  }

  B* slopes(std::int32_t i) { return slopes_.data() + info(i).slopes; }

  void set_common(std::int32_t i, std::span<const double> entries) {
    S* const to = values<S>(i);
    for (Eigen::Index e = 0; e < node(i).size(); ++e) {
      to[e] = S(entries[static_cast<std::size_t>(node(i).offset + e)]);
    }
  }

  /// Copies the values of a common node to all lanes.
  void spread(std::int32_t i) {
    const S* const from = values<S>(i);
    B* const to = values<B>(i);
    for (Eigen::Index e = 0; e < node(i).size(); ++e) to[e] = B(from[e][0]);
  }

  /// Loads a batch. Unused lanes repeat the last sample.
  void set_inputs(Records records) {
    packs_ = (records.count + kLanes - 1) / kLanes;
    for (std::int32_t i = 0; i < num_nodes(); ++i) {
      const Node& n = node(i);
      if (n.op != Op::kInput) continue;
      for (Eigen::Index s = 0; s < packs_ * kLanes; ++s) {
        const Eigen::Index sample = std::min(s, records.count - 1);
        const double* const from = records.data + sample * records.stride + n.offset;
        B* const to = values<B>(i) + s / kLanes * n.size();
        for (Eigen::Index e = 0; e < n.size(); ++e)
          to[e].set(static_cast<int>(s % kLanes), from[e]);
      }
    }
  }

  /// A value for one sample of the batch.
  double value(std::int32_t i, Eigen::Index entry, Eigen::Index sample) {
    if (info(i).is_common) return values<S>(i)[entry][0];
    const B& pack = values<B>(i)[sample / kLanes * node(i).size() + entry];
    return pack[static_cast<int>(sample % kLanes)];
  }

  /// Calls body(part) once for all packs, if the node's rows may be taken together, else for one
  /// pack after the other.
  template <typename F>
  void for_each_part(std::int32_t i, F body) const {
    if (info(i).takes_rows) return body(Part{0, packs_});
    for (Eigen::Index p = 0; p < packs_; ++p) body(Part{p, 1});
  }

  template <typename T>
  detail::View<T> view(T* first, std::int32_t i, Part part) const {
    const Node& n = node(i);
    if (info(i).is_common) part = {0, 1};
    return {first + part.first * n.size(), part.count * n.rows, n.cols, n.cols, 1};
  }

  template <typename T>
  detail::View<const T> operand(std::int32_t i, Part part) {
    if (i < 0) return {};
    return view<const T>(values<T>(i), i, part);
  }

  template <typename T>
  detail::NodeData<T> data_of(const Node& n, Part part) {
    return {.choice = operand<T>(n.choice, part),
            .indices = n.op == Op::kGather ? graph_->indices().data() + n.offset : nullptr};
  }

 private:
  // More than a second-level cache: processing nodes jointly outweighs reading from the third
  // level.
  static constexpr double kBatchBytes = 4 << 20;
  static constexpr Eigen::Index kMaxPacks = 64 / kLanes;

  const Graph* graph_;
  std::span<const Node> nodes_;
  detail::BatchPlan plan_;
  std::vector<S> common_values_;
  std::vector<S> common_adjoints_;
  std::vector<B> values_;  // of packs, and of spread nodes
  std::vector<B> adjoints_;
  std::vector<B> slopes_;
  Eigen::Index packs_ = 0;
};

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
