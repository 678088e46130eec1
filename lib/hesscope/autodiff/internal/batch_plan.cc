// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/autodiff/internal/batch_plan.h>
#include <hesscope/autodiff/internal/sweep_plan.h>

namespace hesscope::detail {
namespace {

using Node = Graph::Node;
using Op = Graph::Op;

// Memory that is in use from one step to another, both inclusive.
struct Lease {
  Eigen::Index size = 0;
  std::int32_t begin = 0;
  std::int32_t end = 0;
  Eigen::Index place = -1;
};

constexpr std::int32_t kForever = INT32_MAX;

// Finds the lowest places such that no two leases overlap; leases that never end come behind all
// others. Returns the total size.
Eigen::Index place_leases(std::vector<Lease>& leases) {
  std::vector<Lease*> order;
  for (Lease& lease : leases) {
    if (lease.end != kForever) order.push_back(&lease);
  }
  std::stable_sort(order.begin(), order.end(), [](const Lease* a, const Lease* b) {
    return a->begin < b->begin;
  });
  std::vector<const Lease*> live;  // by place
  Eigen::Index room = 0;
  for (Lease* const lease : order) {
    std::erase_if(live, [&](const Lease* other) { return other->end < lease->begin; });
    Eigen::Index place = 0;
    auto next = live.begin();
    for (; next != live.end() && (*next)->place < place + lease->size; ++next) {
      place = (*next)->place + (*next)->size;
    }
    lease->place = place;
    live.insert(next, lease);
    room = std::max(room, place + lease->size);
  }
  for (Lease& lease : leases) {
    if (lease.end != kForever) continue;
    lease.place = room;
    room += lease.size;
  }
  return room;
}

// Plans the nodes of a graph. The base of a kReshape is the node whose numbers it shows.
class Planner {
 public:
  Planner(const Graph& graph, std::vector<BatchNode>& plan)
      : graph_(graph), nodes_(graph.nodes()), plan_(plan), base_(nodes_.size()) {
    for (std::int32_t i = 0; i < num_nodes(); ++i) {
      base_[index(i)] = node(i).op == Op::kReshape ? base(node(i).a) : i;
    }
  }

  // Determines which nodes are common, spread, needed, and processed by rows.
  void classify() {
    const SweepPlan sweep = plan_sweep(graph_, 0, graph_.num_parameters(), 0);
    for (std::int32_t i = 0; i < num_nodes(); ++i) {
      const Node& n = node(i);
      BatchNode& own = at(i);
      own.is_needed = sweep[index(i)].needed;
      own.is_common = n.op != Op::kInput && is_common(n.a) && is_common(n.b) && is_common(n.choice);
      if (own.is_common) continue;
      own.takes_rows = takes_rows(n);
      own.a.is_entrywise = is_entrywise(n, n.a);
      own.b.is_entrywise = is_entrywise(n, n.b);
      if (n.op == Op::kMatmul || n.op == Op::kReshape) continue;
      for (const std::int32_t o : n.operands()) {
        if (is_own(o) || o < 0) continue;
        at(o).is_spread = at(base(o)).is_spread = true;
      }
    }
  }

  // Places for common nodes; returns their number, and in `spread` that of spread ones.
  Eigen::Index place_common(Eigen::Index& spread) {
    Eigen::Index entries = 0;
    for (std::int32_t i = 0; i < num_nodes(); ++i) {
      if (!at(i).is_common || base(i) != i) continue;
      at(i).common = entries;
      entries += node(i).size();
      if (!at(i).is_spread) continue;
      at(i).value = at(i).adjoint = spread;
      spread += node(i).size();
    }
    return entries;
  }

  // Slopes of a pack, one after the other.
  Eigen::Index place_slopes() {
    Eigen::Index entries = 0;
    for (std::int32_t i = 0; i < num_nodes(); ++i) {
      if (at(i).is_common || !at(i).is_needed || node(i).op != Op::kElementary) continue;
      at(i).slopes = entries;
      entries += node(i).size();
    }
    return entries;
  }

  // Values of a pack.
  Eigen::Index place_values() {
    std::vector<std::int32_t> uses(nodes_.size());
    for (std::int32_t i = 0; i < num_nodes(); ++i) {
      if (node(i).op == Op::kReshape) continue;
      for (const std::int32_t o : node(i).operands()) {
        if (o >= 0) ++uses[index(base(o))];
      }
    }
    // Results needed outside are never overwritten.
    for (const std::int32_t kept : {graph_.output(), graph_.prediction()}) {
      if (kept >= 0) uses[index(base(kept))] += 2;
    }
    std::vector<Lease> leases;
    std::vector<std::int32_t> lease_of(nodes_.size(), -1);
    const auto lease = [&](std::int32_t i) -> Lease& {
      return leases[index(lease_of[index(base(i))])];
    };
    const auto keep = [&](std::int32_t i) {
      if (is_own(i)) lease(i).end = kForever;
    };
    for (std::int32_t i = 0; i < num_nodes(); ++i) {
      const Node& n = node(i);
      if (at(i).is_common || n.op == Op::kReshape) continue;
      const std::int32_t operand = written_over(i, uses);
      if (operand >= 0) {
        lease_of[index(i)] = lease_of[index(base(operand))];
      } else {
        lease_of[index(i)] = static_cast<std::int32_t>(leases.size());
        leases.push_back({n.size(), n.op == Op::kInput ? 0 : i, i});
      }
      lease(i).end = std::max(lease(i).end, i);
      for (const std::int32_t o : n.operands()) {
        if (is_own(o)) lease(o).end = std::max(lease(o).end, i);
      }
      if (!at(i).is_needed) continue;
      if (reads_itself(n)) keep(i);
      if (reads_operands(n)) {
        for (const std::int32_t o : n.operands()) keep(o);
      }
    }
    for (const std::int32_t kept : {graph_.output(), graph_.prediction()}) keep(kept);
    const Eigen::Index room = place_leases(leases);
    for (std::int32_t i = 0; i < num_nodes(); ++i) {
      if (is_own(i) && base(i) == i) at(i).value = lease(i).place;
    }
    return room;
  }

  // Adjoints of a pack, and which node contributes to them first. Nodes that the output's adjoint
  // does not reach have none.
  Eigen::Index place_adjoints() {
    std::vector<Lease> leases;
    std::vector<std::int32_t> lease_of(nodes_.size(), -1);
    const std::int32_t output = graph_.output();
    const auto begin = [&](std::int32_t base, std::int32_t step) {
      lease_of[index(base)] = static_cast<std::int32_t>(leases.size());
      leases.push_back({node(base).size(), step, step});
    };
    if (is_own(output) && at(output).is_needed) begin(base(output), 0);
    for (std::int32_t i = output; i >= 0; --i) {
      const std::int32_t step = output - i;
      const Node& n = node(i);
      if (n.op == Op::kReshape || !is_own(i) || lease_of[index(i)] < 0) continue;
      leases[index(lease_of[index(i)])].end = step;
      bool is_passed_on = false;
      const auto share = [&](std::int32_t o, BatchOperand& operand) {
        if (!is_own(o) || !at(o).is_needed || lease_of[index(base(o))] >= 0) return;
        operand.is_first = true;
        const bool is_negative = n.op == Op::kSubtract && o == n.b;
        if (!is_passed_on && acts_in_place(n) && operand.is_entrywise && !is_negative) {
          is_passed_on = operand.is_in_place = true;
          lease_of[index(base(o))] = lease_of[index(i)];
        } else {
          begin(base(o), step);
        }
      };
      share(n.a, at(i).a);
      share(n.b, at(i).b);
    }
    const Eigen::Index room = place_leases(leases);
    for (std::int32_t i = 0; i < num_nodes(); ++i) {
      if (!is_own(i)) continue;
      const std::int32_t lease = lease_of[index(base(i))];
      at(i).is_needed = lease >= 0;
      if (lease >= 0 && base(i) == i) at(i).adjoint = leases[index(lease)].place;
    }
    return room;
  }

  // Converts places for one pack to places for `packs` packs, behind the spread nodes; also sets
  // those of reshapes.
  void finish(Eigen::Index spread, Eigen::Index packs) {
    for (std::int32_t i = 0; i < num_nodes(); ++i) {
      BatchNode& own = at(i);
      if (base(i) != i) {
        const BatchNode& shown = at(base(i));
        own.common = shown.common;
        own.value = shown.value;
        own.adjoint = shown.adjoint;
      } else if (!own.is_common) {
        own.value = spread + own.value * packs;
        if (own.adjoint >= 0) own.adjoint = spread + own.adjoint * packs;
        if (own.slopes >= 0) own.slopes *= packs;
      }
    }
  }

 private:
  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  std::int32_t num_nodes() const { return static_cast<std::int32_t>(nodes_.size()); }

  const Node& node(std::int32_t i) const { return nodes_[index(i)]; }

  BatchNode& at(std::int32_t i) const { return plan_[index(i)]; }

  std::int32_t base(std::int32_t i) const { return base_[index(i)]; }

  // Whether there is no such operand, or it is common.
  bool is_common(std::int32_t i) const { return i < 0 || at(i).is_common; }

  bool is_own(std::int32_t i) const { return !is_common(i); }

  bool is_entrywise(const Node& n, std::int32_t o) const {
    return is_own(o) && node(o).rows == n.rows && node(o).cols == n.cols;
  }

  // Whether a node that is not common does the same to each row, with operands that have one row
  // for each of its own, or one for all.
  bool takes_rows(const Node& n) const {
    bool has_spread_operands = false;
    switch (n.op) {
      case Op::kAdd:
      case Op::kSubtract:
      case Op::kHadamard:
      case Op::kDivide:
      case Op::kLess:
      case Op::kEqual:
        has_spread_operands = true;
        break;
      case Op::kScale:
      case Op::kSoftmaxRows:
      case Op::kStandardizeRows:
      case Op::kLogSumExpRows:
      case Op::kCrossEntropyRows:
      case Op::kSumRows:
      case Op::kMaxRows:
      case Op::kSelect:
      case Op::kSlice:  // of columns, if there are as many rows
      case Op::kEmbed:
        break;
      default:
        return false;
    }
    for (const std::int32_t o : n.operands()) {
      if (o < 0) continue;
      if (is_common(o) ? !has_spread_operands || node(o).rows != 1 : node(o).rows != n.rows) {
        return false;
      }
    }
    return true;
  }

  // Whether the backward pass of a node reads its value.
  static bool reads_itself(const Node& n) {
    return n.op == Op::kSoftmaxRows || n.op == Op::kDivide;
  }

  // Whether it reads the values of its operands.
  static bool reads_operands(const Node& n) {
    switch (n.op) {
      case Op::kAdd:
      case Op::kSubtract:
      case Op::kScale:
      case Op::kElementary:  // its slopes are kept
      case Op::kSoftmaxRows:
      case Op::kSum:
      case Op::kSumRows:
      case Op::kSlice:
      case Op::kEmbed:
      case Op::kGather:
        return false;
      default:
        return true;
    }
  }

  // Whether the node works entry by entry, and its backward pass reads no values.
  static bool acts_in_place(const Node& n) {
    return n.op == Op::kAdd || n.op == Op::kSubtract || n.op == Op::kScale ||
           n.op == Op::kElementary;
  }

  // The operand whose value a node may overwrite with its own; -1 if there is none.
  std::int32_t written_over(std::int32_t i, const std::vector<std::int32_t>& uses) const {
    const Node& n = node(i);
    if (!acts_in_place(n)) return -1;
    for (const std::int32_t o : {n.a, n.b}) {
      if (!is_entrywise(n, o) || uses[index(base(o))] != 1) continue;
      const Node& operand = node(base(o));
      if (operand.op != Op::kInput && !(at(base(o)).is_needed && reads_itself(operand))) return o;
    }
    return -1;
  }

  const Graph& graph_;
  std::span<const Node> nodes_;
  std::vector<BatchNode>& plan_;
  std::vector<std::int32_t> base_;
};

}  // namespace

BatchPlan::BatchPlan(const Graph& graph, int lanes, Eigen::Index packs, double max_bytes)
    : nodes(graph.nodes().size()) {
  Planner planner(graph, nodes);
  planner.classify();
  Eigen::Index spread = 0;
  num_common = planner.place_common(spread);
  const Eigen::Index adjoints = planner.place_adjoints();  // determines what is needed
  const Eigen::Index values = planner.place_values();
  const Eigen::Index slopes = planner.place_slopes();
  const double bytes =
      static_cast<double>((values + adjoints + slopes + 1) * lanes) * sizeof(double);
  max_packs = std::clamp<Eigen::Index>(static_cast<Eigen::Index>(max_bytes / bytes), 1, packs);
  planner.finish(spread, max_packs);
  num_values = spread + values * max_packs;
  num_adjoints = spread + adjoints * max_packs;
  num_slopes = slopes * max_packs;
}

}  // namespace hesscope::detail
