// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/structured/internal/graph/matmul_work.h>
#include <hesscope/structured/internal/graph/row_alignments.h>
#include <hesscope/structured/internal/graph/sweep_intervals.h>

namespace hesscope::detail {
SweepIntervals::SweepIntervals(const SweepGraph& graph,
                               const EntryNumbers& entries,
                               const ParameterUses& uses,
                               std::span<const int> group_of_use,
                               std::span<const SweepNode> kept)
    : graph_(graph),
      nodes_(graph.nodes),
      entries_(entries),
      uses_(uses),
      kept_(kept),
      alignment_(row_alignments(graph, entries, kept)),
      support_(graph, entries),
      needs_tangent_(nodes_.size(), 0),
      is_read_(nodes_.size(), 0) {
  find_needs(group_of_use);
}

void SweepIntervals::find_needs(std::span<const int> group_of_use) {
  last_group_.assign(nodes_.size(), -1);
  for (std::size_t u = 0; u < uses_.uses.size(); ++u) {
    for (const int z : uses_.uses[u].z) {
      int& last = last_group_[at(entries_.node_of(z))];
      last = std::max(last, group_of_use[u]);
      is_read_[at(entries_.node_of(z))] = 1;
    }
    for (const int x : uses_.uses[u].x) {
      const int node = x == kUnitInput ? -1 : entries_.node_of(x);
      if (node >= 0) needs_tangent_[at(node)] = is_read_[at(node)] = 1;
    }
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!graph_.varies[i]) continue;
    for (const int operand : {nodes_[i].a, nodes_[i].b}) {
      if (operand >= 0) last_group_[i] = std::max(last_group_[i], last_group_[at(operand)]);
    }
  }
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    if (!graph_.varies[i]) continue;
    if (nodes_[i].op == Graph::Op::kSoftmaxRows) needs_tangent_[i] = 1;  // its own, on the way back
    for (const int operand : {nodes_[i].a, nodes_[i].b}) {
      if (operand < 0) continue;
      if (needs_tangent_[i] || is_read_back(graph_, static_cast<int>(i), operand)) {
        needs_tangent_[at(operand)] = 1;
      }
    }
  }
}

SweepPlanOfNodes SweepIntervals::plan(std::span<const Seed> seeds,
                                      int group,
                                      bool reads_whole) const {
  SweepPlanOfNodes plan(nodes_.size());
  const auto num_nodes = static_cast<int>(nodes_.size());
  const auto is_reshape = [&](int i) { return nodes_[at(i)].op == Graph::Op::kReshape; };
  const auto widened = [&](int i, Interval own) {
    const bool is_whole = reads_whole && is_read_[at(i)] && !own.is_empty();
    return is_whole ? Interval{0, size_of(nodes_[at(i)])} : own;
  };
  // Nodes that nothing reaches, such as those before the first seed, are skipped.
  const auto is_reached = [&](int operand, Interval NodeSweep::*marks) {
    return operand >= 0 && !(plan[at(operand)].*marks).is_empty();
  };
  EntryMarks tangents(at(entries_.size()), 0);
  std::size_t seed = 0;
  for (int i = 0; i < num_nodes; ++i) {
    if (is_reshape(i)) {
      plan[at(i)].tangent = plan[at(entries_.root(i))].tangent;
      continue;
    }
    const Graph::Node& n = nodes_[at(i)];
    bool is_live = graph_.varies[at(i)] && needs_tangent_[at(i)] &&
                   (is_reached(n.a, &NodeSweep::tangent) || is_reached(n.b, &NodeSweep::tangent));
    if (is_live) support_.forward(i, tangents);
    for (; seed < seeds.size() && seeds[seed].node == i; ++seed) {
      if (!needs_tangent_[at(i)]) continue;
      tangents[at(entries_.first(i) + seeds[seed].tangent)] = 1;
      is_live = true;
    }
    if (is_live) plan[at(i)].tangent = widened(i, aligned(i, marked(i, tangents)));
  }
  std::vector<char> takes;
  for (int i = 0; i < num_nodes; ++i) {
    takes.push_back(graph_.varies[at(i)] != 0 && last_group_[at(i)] >= group ? 1 : 0);
  }
  EntryMarks adjoints(at(entries_.size()), 0);
  for (int i = num_nodes; i-- > 0;) {
    if (is_reshape(i)) continue;
    plan[at(i)].adjoint = widened(i, aligned(i, marked(i, adjoints)));
    const Graph::Node& n = nodes_[at(i)];
    const bool is_live = !plan[at(i)].adjoint.is_empty() || is_reached(i, &NodeSweep::tangent) ||
                         is_reached(n.a, &NodeSweep::tangent) ||
                         is_reached(n.b, &NodeSweep::tangent);
    if (graph_.varies[at(i)] && n.a >= 0 && is_live) {
      support_.reverse(i, tangents, takes, adjoints);
    }
  }
  for (int i = 0; i < num_nodes; ++i) {
    plan[at(i)].adjoint = plan[at(entries_.root(i))].adjoint;
    // The parts of a row, which is either complete or empty, form its adjoint.
    const bool is_slice = kept_[at(i)].is_part && nodes_[at(i)].op == Graph::Op::kSlice;
    if (is_slice && !plan[at(nodes_[at(i)].a)].adjoint.is_empty()) {
      plan[at(i)].adjoint = {0, size_of(nodes_[at(i)])};
    }
  }
  return plan;
}

// From the first to the last of the node's marked entries.
Interval SweepIntervals::marked(int node, const EntryMarks& marks) const {
  const char* const own = marks.data() + entries_.first(node);
  const int size = size_of(nodes_[at(node)]);
  const void* const first = std::memchr(own, 1, at(size));
  if (first == nullptr) return {};
  int end = size;
  while (own[end - 1] == 0) --end;
  return {static_cast<int>(static_cast<const char*>(first) - own), end};
}

Interval SweepIntervals::aligned(int node, Interval entries) const {
  if (entries.is_empty()) return {};
  const int step = alignment_[at(entries_.root(node))];
  return {entries.begin / step * step,
          std::min(size_of(nodes_[at(node)]), ceil_div(entries.end, step) * step)};
}

bool SweepIntervals::is_in(const SweepPlanOfNodes& plan, int entry, bool is_adjoint) const {
  const int node = entries_.node_of(entry);
  if (node < 0) return false;
  const NodeSweep& sweep = plan[at(node)];
  const Interval own = is_adjoint ? sweep.adjoint : sweep.tangent;
  const int e = entry - entries_.first(node);
  return e >= own.begin && e < own.end;
}

double SweepIntervals::multiply_adds(const SweepPlanOfNodes& plan) const {
  double work = 0;
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    const Graph::Node& n = nodes_[at(i)];
    if (n.a < 0 || n.op == Graph::Op::kReshape || kept_[at(i)].is_part) continue;
    const NodeSweep& own = plan[at(i)];
    if (n.op == Graph::Op::kMatmul) {
      work += matmul_work(nodes_, i, own, plan[at(n.a)], plan[at(n.b)]);
    } else {
      work += length(own.tangent) + length(own.adjoint);
    }
  }
  return work;
}

}  // namespace hesscope::detail
