// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/autodiff/internal/moved_entries.h>
#include <hesscope/autodiff/internal/product_entries.h>
#include <hesscope/core/constants.h>
#include <hesscope/structured/internal/graph/idle_entries.h>

namespace hesscope::detail {
namespace {

using Node = Graph::Node;
using Op = Graph::Op;

// Values of entries that are the same for all parameters and samples, NaN for others; empty for a
// node without known entries. Entries that are -inf or 0 whatever is added or multiplied count as
// known, since the output is not finite if those operands are infinite; but not for comparisons,
// which may detect this.
class KnownValues {
 public:
  explicit KnownValues(const Graph& graph) : graph_(graph), nodes_(graph.nodes()) {
    for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
      is_fixed_.push_back(is_made_of_constants(nodes_[at(i)]) ? 1 : 0);
      std::vector<double> values = values_of(i);
      if (std::ranges::all_of(values, [](double x) { return std::isnan(x); })) values.clear();
      known_.push_back(std::move(values));
    }
  }

  bool has_any(int node) const { return !known_[at(node)].empty(); }

  double operator()(int node, int e) const {
    const std::vector<double>& own = known_[at(node)];
    return own.empty() ? kNaN : own[at(e)];
  }

  /// The value that decides entry e of a kSelect node.
  double choice_of(const Node& node, int e) const {
    return is_fixed_[at(node.choice)] == 0 ? kNaN : (*this)(node.choice, e);
  }

 private:
  bool is_made_of_constants(const Node& n) const {
    const auto is_fixed = [&](int operand) { return operand < 0 || is_fixed_[at(operand)] != 0; };
    if (n.op == Op::kInput || n.op == Op::kParameter) return false;
    return is_fixed(n.a) && is_fixed(n.b) && is_fixed(n.choice);
  }

  std::vector<double> values_of(int i) const {
    const Node& n = nodes_[at(i)];
    const auto size = size_of(n);
    if (n.op == Op::kConstant) {
      const auto own = graph_.constants().subspan(at(n.offset), at(size));
      return {own.begin(), own.end()};
    }
    const auto is_known = [&](int operand) { return operand >= 0 && has_any(operand); };
    if (!is_known(n.a) && !is_known(n.b)) return {};
    std::vector<double> values(at(size), kNaN);
    for (int e = 0; e < size; ++e) values[at(e)] = value_of(i, e);
    return values;
  }

  double value_of(int i, int e) const {
    const Node& n = nodes_[at(i)];
    const auto of = [&](int operand) {
      return (*this)(operand, spread_entry(n, nodes_[at(operand)], e));
    };
    switch (n.op) {
      case Op::kReshape:
        return (*this)(n.a, e);
      case Op::kScale:
        return n.factor * of(n.a);
      case Op::kAdd: {
        const double a = of(n.a);
        const double b = of(n.b);
        return a == -kInfinity || b == -kInfinity ? -kInfinity : a + b;
      }
      case Op::kSubtract: {
        const double a = of(n.a);
        return a == -kInfinity ? a : a - of(n.b);
      }
      case Op::kHadamard: {
        const double a = of(n.a);
        const double b = of(n.b);
        const bool is_known = !std::isnan(a) && !std::isnan(b);
        return !is_known && (a == 0 || b == 0) ? 0 : a * b;
      }
      case Op::kDivide:
        return of(n.a) == 0 && std::isnan(of(n.b)) ? 0 : of(n.a) / of(n.b);
      case Op::kElementary: {
        const bool is_zero_at_the_end =
            n.function == Elementary::kExp || n.function == Elementary::kSigmoid;
        return is_zero_at_the_end && of(n.a) == -kInfinity ? 0 : kNaN;
      }
      case Op::kLess:
      case Op::kEqual: {
        // NaN for constants means that the value was not computed here.
        const double a = of(n.a);
        const double b = of(n.b);
        if (is_fixed_[at(i)] == 0 || std::isnan(a) || std::isnan(b)) return kNaN;
        return (n.op == Op::kLess ? a < b : a == b) ? 1 : 0;
      }
      case Op::kSelect: {
        const double choice = choice_of(n, e);
        if (std::isnan(choice)) return kNaN;
        return (*this)(choice != 0 ? n.a : n.b, e);
      }
      case Op::kSoftmaxRows: {
        const auto cols = static_cast<int>(n.cols);
        bool is_masked = (*this)(n.a, e) == -kInfinity;
        int num_masked = 0;
        for (int c = 0; is_masked && c < cols; ++c) {
          num_masked += (*this)(n.a, e / cols * cols + c) == -kInfinity ? 1 : 0;
        }
        return is_masked && num_masked < cols ? 0 : kNaN;
      }
      case Op::kSlice:
      case Op::kEmbed:
      case Op::kGather: {
        const MovedEntry from = moved_from(nodes_, graph_.indices(), i, e);
        return from.node < 0 ? 0 : (*this)(from.node, from.entry);
      }
      default:
        return kNaN;
    }
  }

  const Graph& graph_;
  std::span<const Node> nodes_;
  std::vector<char> is_fixed_;  // for each node: made from constants only
  std::vector<std::vector<double>> known_;
};

// Entries on which the output depends, by roots.
class UsedEntries {
 public:
  UsedEntries(const Graph& graph, const EntryNumbers& entries, const KnownValues& known)
      : graph_(graph), nodes_(graph.nodes()), entries_(entries), known_(known) {
    for (const Node& n : nodes_) used_.emplace_back(at(size_of(n)), 0);
    mark_all(graph.output());
    for (int i = static_cast<int>(nodes_.size()); i-- > 0;) {
      if (nodes_[at(i)].op != Op::kReshape && nodes_[at(i)].a >= 0) visit(i);
    }
  }

  bool operator()(int node, int e) const { return used_[at(entries_.root(node))][at(e)] != 0; }

 private:
  void mark(int node, int e) { used_[at(entries_.root(node))][at(e)] = 1; }

  void mark_all(int node) {
    if (node >= 0) std::ranges::fill(used_[at(entries_.root(node))], 1);
  }

  bool passes(int i, int e) const { return used_[at(i)][at(e)] != 0 && std::isnan(known_(i, e)); }

  template <typename F>
  void for_passing(int i, F take) {
    for (int e = 0; e < size_of(nodes_[at(i)]); ++e) {
      if (passes(i, e)) take(e);
    }
  }

  void visit(int i) {
    const Node& n = nodes_[at(i)];
    if (n.is_step()) return;
    switch (n.op) {
      case Op::kAdd:
      case Op::kSubtract:
      case Op::kScale:
      case Op::kHadamard:
      case Op::kDivide:
      case Op::kElementary:
        return for_passing(i, [&](int e) {
          mark(n.a, spread_entry(n, nodes_[at(n.a)], e));
          if (n.b >= 0) mark(n.b, spread_entry(n, nodes_[at(n.b)], e));
        });
      case Op::kSelect:
        return for_passing(i, [&](int e) {
          const double choice = known_.choice_of(n, e);
          if (!(choice == 0)) mark(n.a, e);
          if (std::isnan(choice) || choice == 0) mark(n.b, e);
        });
      case Op::kSoftmaxRows:
        return for_passing(i, [&](int e) {
          const auto cols = static_cast<int>(n.cols);
          for (int c = 0; c < cols; ++c) {
            const int operand = e / cols * cols + c;
            if (known_(n.a, operand) != -kInfinity) mark(n.a, operand);
          }
        });
      case Op::kStandardizeRows:
        return for_passing(i, [&](int e) {
          const auto cols = static_cast<int>(n.cols);
          for (int c = 0; c < cols; ++c) mark(n.a, e / cols * cols + c);
        });
      case Op::kSlice:
      case Op::kEmbed:
      case Op::kGather:
        return for_passing(i, [&](int e) {
          const MovedEntry from = moved_from(nodes_, graph_.indices(), i, e);
          if (from.node >= 0) mark(from.node, from.entry);
        });
      case Op::kMatmul:
        return visit_product(i);
      default:
        if (std::ranges::none_of(used_[at(i)], [](char is_used) { return is_used != 0; })) return;
        mark_all(n.a);
        mark_all(n.b);
    }
  }

  void visit_product(int i) {
    const Node& n = nodes_[at(i)];
    const ProductEntries product(nodes_, i);
    for_passing(i, [&](int e) {
      const auto cols = static_cast<int>(n.cols);
      const int k = e / cols / product.rows();
      const int row = e / cols % product.rows();
      for (int r = 0; r < product.inner(); ++r) {
        const int left = product.left(k, row, r);
        const int right = product.right(k, r, e % cols);
        if (known_(n.b, right) != 0) mark(n.a, left);
        if (known_(n.a, left) != 0) mark(n.b, right);
      }
    });
  }

  const Graph& graph_;
  std::span<const Node> nodes_;
  const EntryNumbers& entries_;
  const KnownValues& known_;
  std::vector<std::vector<char>> used_;
};

}  // namespace

IdleEntries::IdleEntries(const Graph& graph,
                         const EntryNumbers& entries,
                         std::span<const char> varies)
    : idle_(graph.nodes().size()), zero_(graph.nodes().size()) {
  const auto num_nodes = static_cast<int>(graph.nodes().size());
  const KnownValues known(graph);
  // One mark per entry, or none if none is set.
  const auto marks = [&](int i, auto is_marked) {
    std::vector<char> of_node;
    for (int e = 0; e < size_of(graph.nodes()[at(i)]); ++e) {
      of_node.push_back(is_marked(e) ? 1 : 0);
    }
    if (std::ranges::find(of_node, 1) == of_node.end()) of_node.clear();
    return of_node;
  };
  const UsedEntries is_used(graph, entries, known);
  for (int i = 0; i < num_nodes; ++i) {
    if (known.has_any(i)) zero_[at(i)] = marks(i, [&](int e) { return known(i, e) == 0; });
    if (varies[at(i)] == 0) continue;
    idle_[at(i)] = marks(i, [&](int e) { return !std::isnan(known(i, e)) || !is_used(i, e); });
  }
  for (int i = 0; i < num_nodes; ++i) idle_[at(i)] = idle_[at(entries.root(i))];
}

}  // namespace hesscope::detail
