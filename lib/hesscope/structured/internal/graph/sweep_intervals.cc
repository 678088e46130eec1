// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <bit>

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

struct SweepIntervals::Planning {
  std::span<SweepPlanOfNodes> plans;
  bool reads_whole;
  EntryMarks tangents;
  EntryMarks adjoints;
  std::vector<char> has_tangents;  // for each node: whether any sweep reaches it

  bool reaches_operands(const Graph::Node& n) const {
    return (n.a >= 0 && has_tangents[at(n.a)] != 0) || (n.b >= 0 && has_tangents[at(n.b)] != 0);
  }

  void copy(int from, int to, Interval NodeSweep::*part) const {
    for (SweepPlanOfNodes& plan : plans) plan[at(to)].*part = plan[at(from)].*part;
  }
};

std::vector<SweepPlanOfNodes> SweepIntervals::plans(std::span<const std::span<const Seed>> seeds,
                                                    int group,
                                                    bool reads_whole) const {
  std::vector<char> takes;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    takes.push_back(graph_.varies[i] != 0 && last_group_[i] >= group ? 1 : 0);
  }
  std::vector<SweepPlanOfNodes> plans(seeds.size(), SweepPlanOfNodes(nodes_.size()));
  for (std::size_t first = 0; first < seeds.size(); first += kMarkedSweeps) {
    const std::size_t count = std::min<std::size_t>(kMarkedSweeps, seeds.size() - first);
    plan_together(
        seeds.subspan(first, count), takes, reads_whole, std::span(plans).subspan(first, count));
  }
  return plans;
}

void SweepIntervals::plan_together(std::span<const std::span<const Seed>> seeds,
                                   std::span<const char> takes,
                                   bool reads_whole,
                                   std::span<SweepPlanOfNodes> plans) const {
  Planning planning{.plans = plans,
                    .reads_whole = reads_whole,
                    .tangents = EntryMarks(at(entries_.size()), 0),
                    .adjoints = EntryMarks(at(entries_.size()), 0),
                    .has_tangents = std::vector<char>(nodes_.size(), 0)};
  sweep_forwards(seeds, planning);
  sweep_backwards(takes, planning);
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    planning.copy(entries_.root(i), i, &NodeSweep::adjoint);
    // The parts of a row, which is either complete or empty, form its adjoint.
    if (!kept_[at(i)].is_part || nodes_[at(i)].op != Graph::Op::kSlice) continue;
    for (SweepPlanOfNodes& plan : plans) {
      if (plan[at(nodes_[at(i)].a)].adjoint.is_empty()) continue;
      plan[at(i)].adjoint = {0, size_of(nodes_[at(i)])};
    }
  }
}

// Nodes that nothing reaches, such as those before the first seed, are skipped, here and below.
void SweepIntervals::sweep_forwards(std::span<const std::span<const Seed>> seeds,
                                    Planning& planning) const {
  struct SeededEntry {
    int node;
    int entry;
    Marks sweep;
  };

  std::vector<SeededEntry> seeded;
  for (std::size_t k = 0; k < seeds.size(); ++k) {
    for (const Seed& seed : seeds[k]) seeded.push_back({seed.node, seed.tangent, Marks{1} << k});
  }
  std::ranges::stable_sort(seeded, {}, &SeededEntry::node);
  auto seed = seeded.begin();
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    if (is_reshape(i)) {
      planning.copy(entries_.root(i), i, &NodeSweep::tangent);
      planning.has_tangents[at(i)] = planning.has_tangents[at(entries_.root(i))];
      continue;
    }
    bool is_live =
        graph_.varies[at(i)] && needs_tangent_[at(i)] && planning.reaches_operands(nodes_[at(i)]);
    if (is_live) support_.forward(i, planning.tangents);
    for (; seed != seeded.end() && seed->node == i; ++seed) {
      if (!needs_tangent_[at(i)]) continue;
      planning.tangents[at(entries_.first(i) + seed->entry)] |= seed->sweep;
      is_live = true;
    }
    if (is_live) {
      planning.has_tangents[at(i)] =
          set_intervals(i, planning.tangents, &NodeSweep::tangent, planning);
    }
  }
}

void SweepIntervals::sweep_backwards(std::span<const char> takes, Planning& planning) const {
  for (int i = static_cast<int>(nodes_.size()); i-- > 0;) {
    if (is_reshape(i)) continue;
    const bool has_adjoint = set_intervals(i, planning.adjoints, &NodeSweep::adjoint, planning);
    const bool is_live = has_adjoint || planning.has_tangents[at(i)] != 0 ||
                         planning.reaches_operands(nodes_[at(i)]);
    if (graph_.varies[at(i)] && nodes_[at(i)].a >= 0 && is_live) {
      support_.reverse(i, planning.tangents, takes, planning.adjoints);
    }
  }
}

bool SweepIntervals::is_reshape(int i) const { return nodes_[at(i)].op == Graph::Op::kReshape; }

// Returns whether any sweep marks an entry.
bool SweepIntervals::set_intervals(int i,
                                   const EntryMarks& marks,
                                   Interval NodeSweep::*part,
                                   Planning& planning) const {
  const Marks* const own = marks.data() + entries_.first(i);
  const int size = size_of(nodes_[at(i)]);
  const bool is_whole = planning.reads_whole && is_read_[at(i)] != 0;
  const int step = is_whole ? size : alignment_[at(i)];
  const Marks all = any_of(own, size);
  const auto for_sweeps = [](Marks sweeps, auto visit) {
    for (; sweeps != 0; sweeps &= sweeps - 1) visit(std::countr_zero(sweeps));
  };
  std::array<int, kMarkedSweeps> first = {};
  Marks left = all;
  for (int e = 0; left != 0; left &= ~own[e++]) {
    for_sweeps(own[e] & left, [&](int k) { first[at(k)] = e; });
  }
  left = all;
  for (int e = size - 1; left != 0; left &= ~own[e--]) {
    for_sweeps(own[e] & left, [&](int k) {
      Interval& interval = planning.plans[at(k)][at(i)].*part;
      interval = {first[at(k)] / step * step, std::min(size, ceil_div(e + 1, step) * step)};
    });
  }
  return all != 0;
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
