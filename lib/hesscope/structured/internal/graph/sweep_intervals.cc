// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>

#include <hesscope/structured/internal/graph/indexing.h>
#include <hesscope/structured/internal/graph/row_alignments.h>
#include <hesscope/structured/internal/graph/sweep_intervals.h>

namespace hesscope::detail {
namespace {

Interval hull(Interval a, Interval b) {
  if (a.is_empty()) return b;
  if (b.is_empty()) return a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

Interval rows_of(Interval entries, Eigen::Index cols) {
  const auto c = static_cast<int>(cols);
  return {entries.begin / c, (entries.end + c - 1) / c};
}

Interval times(Interval rows, Eigen::Index cols) {
  const auto c = static_cast<int>(cols);
  return {rows.begin * c, rows.end * c};
}

// Whether the derivative of the node with respect to `operand` depends on anything that varies.
bool is_bent(const Graph::Node& node, int operand, std::span<const char> varies) {
  const int other = node.a == operand ? node.b : node.a;
  switch (node.op) {
    case Graph::Op::kElementary:
    case Graph::Op::kSoftmaxRows:
    case Graph::Op::kLogSumExpRows:
    case Graph::Op::kCrossEntropyRows:
    case Graph::Op::kSquaredDistances:
      return true;
    case Graph::Op::kDivide:
      return operand == node.b || varies[at(node.b)] != 0;
    case Graph::Op::kHadamard:
    case Graph::Op::kMatmul:
      return other == operand || varies[at(other)] != 0;
    default:
      return false;
  }
}

}  // namespace

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
      const int node = x == kOne ? -1 : entries_.node_of(x);
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
      const bool bends =
          kept_[i].bends && operand >= 0 && is_bent(nodes_[i], operand, graph_.varies);
      if (operand >= 0 && (needs_tangent_[i] || bends)) {
        needs_tangent_[at(operand)] = 1;
      }
    }
  }
}

SweepPlanOfNodes SweepIntervals::plan(std::span<const Seed> seeds,
                                      int group,
                                      bool reads_whole) const {
  SweepPlanOfNodes plan(nodes_.size());
  std::size_t seed = 0;
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    Interval& own = plan[at(i)].tangent;
    if (nodes_[at(i)].op == Graph::Op::kReshape) {
      own = plan[at(entries_.root(i))].tangent;
      continue;
    }
    Interval found;
    if (graph_.varies[at(i)]) found = forward_of(plan, i);
    for (; seed < seeds.size() && seeds[seed].node == i; ++seed) {
      const int entry = seeds[seed].tangent;
      found = hull(found, {entry, entry + 1});
    }
    if (needs_tangent_[at(i)]) own = aligned(i, found);
    if (reads_whole && is_read_[at(i)] && !own.is_empty()) own = {0, size_of(nodes_[at(i)])};
  }
  for (int i = static_cast<int>(nodes_.size()); i-- > 0;) {
    Interval& own = plan[at(i)].adjoint;
    if (reads_whole && is_read_[at(i)] && !own.is_empty()) own = {0, size_of(nodes_[at(i)])};
    if (graph_.varies[at(i)] && nodes_[at(i)].a >= 0 && nodes_[at(i)].op != Graph::Op::kReshape) {
      reverse_of(plan, group, i);
    }
  }
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    plan[at(i)].adjoint = plan[at(entries_.root(i))].adjoint;
    // Parts of a row, which is whole or not there, make up its adjoint.
    const bool is_slice = kept_[at(i)].is_part && nodes_[at(i)].op == Graph::Op::kSlice;
    if (is_slice && !plan[at(nodes_[at(i)].a)].adjoint.is_empty()) {
      plan[at(i)].adjoint = {0, size_of(nodes_[at(i)])};
    }
  }
  return plan;
}

Interval SweepIntervals::aligned(int node, Interval entries) const {
  if (entries.is_empty()) return {};
  const int step = alignment_[at(entries_.root(node))];
  return {entries.begin / step * step,
          std::min(size_of(nodes_[at(node)]), (entries.end + step - 1) / step * step)};
}

// Of what its operands' intervals make.
Interval SweepIntervals::forward_of(const SweepPlanOfNodes& plan, int i) const {
  const Graph::Node& n = nodes_[at(i)];
  const Interval whole{0, size_of(n)};
  const auto interval = [&](int operand) {
    return operand < 0 ? Interval{} : plan[at(operand)].tangent;
  };
  const Interval a = interval(n.a);
  const Interval b = interval(n.b);
  if (a.is_empty() && b.is_empty()) return {};
  // Of the entries that take them, each its own or a row one number.
  const auto spread = [&](int operand, Interval entries) {
    if (entries.is_empty()) return entries;
    const Graph::Node& o = nodes_[at(operand)];
    if (o.rows != n.rows) return whole;
    return o.cols == n.cols ? entries : times(entries, n.cols);
  };
  switch (n.op) {
    case Graph::Op::kAdd:
    case Graph::Op::kSubtract:
    case Graph::Op::kHadamard:
    case Graph::Op::kDivide:
      return hull(spread(n.a, a), spread(n.b, b));
    case Graph::Op::kScale:
    case Graph::Op::kElementary:
    case Graph::Op::kSelect:
      return hull(a, b);
    case Graph::Op::kSoftmaxRows:
      return times(rows_of(a, n.cols), n.cols);
    case Graph::Op::kLogSumExpRows:
    case Graph::Op::kCrossEntropyRows:
    case Graph::Op::kSumRows:
    case Graph::Op::kMaxRows:
      return rows_of(a, nodes_[at(n.a)].cols);
    case Graph::Op::kMatmul: {
      if (n.stack > 1) {  // whole products
        Interval products;
        const auto add = [&](int operand, bool is_shared, Interval entries) {
          if (entries.is_empty()) return;
          const Graph::Node& o = nodes_[at(operand)];
          products = hull(products,
                          is_shared ? Interval{0, static_cast<int>(n.stack)}
                                    : rows_of(entries, o.size() / n.stack));
        };
        const bool is_by_rows = b.is_empty() && !n.transpose_a && !n.is_shared_a;
        if (is_by_rows) return times(rows_of(a, nodes_[at(n.a)].cols), n.cols);
        add(n.a, n.is_shared_a, a);
        add(n.b, n.is_shared_b, b);
        return times(products, n.size() / n.stack);
      }
      if (!b.is_empty() || n.transpose_a) return whole;
      return times(rows_of(a, nodes_[at(n.a)].cols), n.cols);
    }
    case Graph::Op::kSquaredDistances:
      return b.is_empty() ? times(rows_of(a, nodes_[at(n.a)].cols), n.cols) : whole;
    case Graph::Op::kSum:
      return whole;
    case Graph::Op::kSlice:
    case Graph::Op::kEmbed:
    case Graph::Op::kGather: {
      Interval found;
      const auto a_size = size_of(nodes_[at(n.a)]);
      const auto cols = static_cast<int>(n.cols);
      const auto a_cols = static_cast<int>(nodes_[at(n.a)].cols);
      for (int e = 0; e < size_of(n); ++e) {
        int from = -1;
        if (n.op == Graph::Op::kGather) {
          from = graph_.indices[at(static_cast<int>(n.offset) + e)];
        } else if (n.op == Graph::Op::kSlice) {
          from = (static_cast<int>(n.row) + e / cols) * a_cols + static_cast<int>(n.col) + e % cols;
        } else {
          const int r = e / cols - static_cast<int>(n.row);
          const int c = e % cols - static_cast<int>(n.col);
          if (r >= 0 && c >= 0 && c < a_cols && r * a_cols + c < a_size) from = r * a_cols + c;
        }
        const Interval& live = from < a_size ? a : b;
        const int entry = from < a_size ? from : from - a_size;
        if (from >= 0 && entry >= live.begin && entry < live.end) found = hull(found, {e, e + 1});
      }
      return found;
    }
    default:
      return {};
  }
}

// What a node's adjoint and its operands' tangents give to its operands' adjoints.
void SweepIntervals::reverse_of(SweepPlanOfNodes& plan, int group, int i) const {
  const Graph::Node& n = nodes_[at(i)];
  const Interval bar = plan[at(entries_.root(i))].adjoint;
  const auto tangent = [&](int operand) {
    return operand < 0 ? Interval{} : plan[at(operand)].tangent;
  };
  const Interval a = tangent(n.a);
  const Interval b = tangent(n.b);
  const auto give = [&](int operand, Interval entries) {
    if (operand < 0 || entries.is_empty() || !graph_.varies[at(operand)]) return;
    if (last_group_[at(operand)] < group) return;
    const int root = entries_.root(operand);
    Interval& own = plan[at(root)].adjoint;
    own = hull(own, aligned(root, entries));
  };
  const auto all = [&](int operand) { return Interval{0, size_of(nodes_[at(operand)])}; };
  // What the node's entries take of an operand that has entries like them, or one for each row.
  const auto spread = [&](int operand, Interval entries) {
    if (operand < 0 || entries.is_empty()) return Interval{};
    const Graph::Node& o = nodes_[at(operand)];
    if (o.rows != n.rows) return all(operand);
    return o.cols == n.cols ? entries : rows_of(entries, n.cols);
  };
  // Of an operand, given those of the other.
  const auto across = [&](int operand, int other, Interval entries) {
    if (entries.is_empty()) return entries;
    const Graph::Node& o = nodes_[at(other)];
    const bool is_by_rows = o.rows == n.rows && o.cols != n.cols;
    if (is_by_rows) return spread(operand, times(entries, n.cols));
    return spread(operand, o.rows == n.rows ? entries : Interval{0, size_of(n)});
  };
  switch (n.op) {
    case Graph::Op::kAdd:
    case Graph::Op::kSubtract:
      give(n.a, spread(n.a, bar));
      return give(n.b, spread(n.b, bar));
    case Graph::Op::kHadamard:
      give(n.a, hull(spread(n.a, bar), across(n.a, n.b, b)));
      return give(n.b, hull(spread(n.b, bar), across(n.b, n.a, a)));
    case Graph::Op::kDivide:
      give(n.a, hull(spread(n.a, bar), across(n.a, n.b, b)));
      return give(n.b, hull(spread(n.b, bar), hull(across(n.b, n.a, a), across(n.b, n.b, b))));
    case Graph::Op::kScale:
      return give(n.a, bar);
    case Graph::Op::kSelect:
      give(n.a, bar);
      return give(n.b, bar);
    case Graph::Op::kElementary:
      return give(n.a, kept_[at(i)].bends ? hull(bar, a) : bar);
    case Graph::Op::kSoftmaxRows: {
      const Interval own = tangent(i);
      return give(n.a, times(rows_of(hull(bar, own), n.cols), n.cols));
    }
    case Graph::Op::kLogSumExpRows:
    case Graph::Op::kCrossEntropyRows: {
      const Eigen::Index cols = nodes_[at(n.a)].cols;
      return give(n.a, times(hull(bar, rows_of(a, cols)), cols));
    }
    case Graph::Op::kSumRows:
    case Graph::Op::kMaxRows:
      return give(n.a, times(bar, nodes_[at(n.a)].cols));
    case Graph::Op::kSum:
      return give(n.a, bar.is_empty() ? bar : all(n.a));
    case Graph::Op::kSquaredDistances: {
      const Interval rows = hull(times(rows_of(bar, n.cols), nodes_[at(n.a)].cols), a);
      give(n.a, b.is_empty() ? rows : all(n.a));
      return give(n.b, rows.is_empty() && b.is_empty() ? Interval{} : all(n.b));
    }
    case Graph::Op::kMatmul: {
      const bool by_rows = !n.transpose_a && !n.is_shared_a;
      const Graph::Node& left = nodes_[at(n.a)];
      if (!bar.is_empty()) {
        give(n.a, by_rows ? times(rows_of(bar, n.cols), left.cols) : all(n.a));
      }
      const auto products_of = [&](Interval entries, Eigen::Index size) {
        return rows_of(entries, size / n.stack);
      };
      const auto parts_of = [&](int operand, bool is_shared, Interval products) {
        return is_shared ? all(operand) : times(products, nodes_[at(operand)].size() / n.stack);
      };
      const Interval every{0, static_cast<int>(n.stack)};
      if (!b.is_empty()) {
        const Interval products = n.is_shared_b ? every : products_of(b, nodes_[at(n.b)].size());
        give(n.a, parts_of(n.a, n.is_shared_a, products));
      }
      Interval products;
      if (!bar.is_empty()) products = products_of(bar, n.size());
      if (!a.is_empty()) {
        products = hull(products, n.is_shared_a ? every : products_of(a, left.size()));
      }
      if (!products.is_empty()) give(n.b, parts_of(n.b, n.is_shared_b, products));
      return;
    }
    case Graph::Op::kSlice:
    case Graph::Op::kEmbed:
    case Graph::Op::kGather: {
      const auto cols = static_cast<int>(n.cols);
      const Graph::Node& from = nodes_[at(n.a)];
      const auto a_cols = static_cast<int>(from.cols);
      for (int e = bar.begin; e < bar.end; ++e) {
        if (n.op == Graph::Op::kSlice) {
          const int entry =
              (static_cast<int>(n.row) + e / cols) * a_cols + static_cast<int>(n.col) + e % cols;
          give(n.a, {entry, entry + 1});
        } else if (n.op == Graph::Op::kEmbed) {
          const int r = e / cols - static_cast<int>(n.row);
          const int c = e % cols - static_cast<int>(n.col);
          if (r < 0 || c < 0 || r >= static_cast<int>(from.rows) || c >= a_cols) continue;
          give(n.a, {r * a_cols + c, r * a_cols + c + 1});
        } else {
          const int entry = graph_.indices[at(static_cast<int>(n.offset) + e)];
          if (entry < 0) continue;
          const int a_size = size_of(from);
          if (entry < a_size) {
            give(n.a, {entry, entry + 1});
          } else {
            give(n.b, {entry - a_size, entry - a_size + 1});
          }
        }
      }
      return;
    }
    default:
      return;
  }
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
    const auto length = [](Interval entries) {
      return static_cast<double>(entries.end - entries.begin);
    };
    if (n.op != Graph::Op::kMatmul) {
      work += length(own.tangent) + length(own.adjoint);
      continue;
    }
    const NodeSweep& a = plan[at(n.a)];
    const NodeSweep* const b = &plan[at(n.b)];
    const Graph::Node& left = nodes_[at(n.a)];
    const auto inner = static_cast<double>(!n.transpose_a  ? left.cols
                                           : n.is_shared_a ? left.rows
                                                           : left.rows / n.stack);
    const auto rows = static_cast<double>(n.rows / n.stack);
    const auto cols = static_cast<double>(n.cols);
    const double a_times = n.is_shared_a ? static_cast<double>(n.stack) : 1;
    const double b_times = n.is_shared_b ? static_cast<double>(n.stack) : 1;
    const double of_a = length(a.tangent) * a_times * cols;
    const double of_b = length(b->tangent) * b_times * rows;
    const double of_bar = length(own.adjoint) * inner;
    if (!own.tangent.is_empty()) work += of_a + of_b;
    if (!a.adjoint.is_empty()) work += of_bar + of_b;
    if (!b->adjoint.is_empty()) work += of_bar + of_a;
  }
  return work;
}

}  // namespace hesscope::detail
