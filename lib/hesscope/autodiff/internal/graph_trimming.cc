// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <hesscope/autodiff/internal/graph_trimming.h>
#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/autodiff/internal/moved_entries.h>
#include <hesscope/autodiff/internal/node_copy.h>
#include <hesscope/autodiff/internal/product_entries.h>

namespace hesscope::detail {
namespace {

using Op = Graph::Op;
using Node = Graph::Node;

// Rows and columns of a node.
struct Lines {
  std::vector<std::int32_t> rows = {};
  std::vector<std::int32_t> cols = {};
};

// Some entries of a node, in their order, as a matrix.
struct Part {
  bool is_whole = false;  // if it is, the rest is empty
  std::vector<std::int32_t> entries = {};
  Eigen::Index rows = 0;
  Eigen::Index cols = 0;
  Lines lines = {};  // in which they are
};

std::vector<std::int32_t> first_numbers(Eigen::Index count) {
  std::vector<std::int32_t> numbers(at(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// The entries where these rows and columns of a matrix with `cols` columns meet.
Part part_of(Lines lines, Eigen::Index cols) {
  Part part{.entries = {}, .rows = std::ssize(lines.rows), .cols = std::ssize(lines.cols)};
  for (const std::int32_t row : lines.rows) {
    for (const std::int32_t col : lines.cols) {
      part.entries.push_back(row * static_cast<std::int32_t>(cols) + col);
    }
  }
  part.lines = std::move(lines);
  return part;
}

class Trimming {
 public:
  explicit Trimming(const Graph& graph)
      : graph_(graph), nodes_(graph.nodes()), is_used_(nodes_.size()), parts_(nodes_.size()) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) is_used_[i].assign(at(nodes_[i].size()), 0);
    for (const std::int32_t end : {graph.output(), graph.prediction()}) {
      if (end >= 0) std::ranges::fill(is_used_[at(end)], 1);
    }
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      if (std::ranges::find(is_used_[i], 1) != is_used_[i].end()) use(static_cast<std::int32_t>(i));
    }
  }

  // Whether a product of matrices or an operation on rows becomes smaller; for others alone, taking
  // the entries would be more work than computing all of them.
  bool is_worthwhile() const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!parts_[i].entries.empty() && is_of_lines(nodes_[i].op)) return true;
    }
    return false;
  }

  std::shared_ptr<Graph> run() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto node = static_cast<std::int32_t>(i);
      const bool is_needed = parts_[i].is_whole || !parts_[i].entries.empty();
      kept_.push_back(is_needed || nodes_[i].op == Op::kParameter ? copy_of(node) : std::nullopt);
    }
    if (graph_.prediction() >= 0) result_->set_prediction(*kept_[at(graph_.prediction())]);
    if (graph_.output() >= 0) result_->set_output(*kept_[at(graph_.output())]);
    return result_;
  }

 private:
  static bool is_leaf(const Node& n) { return n.a < 0; }

  static bool is_of_lines(Op op) {
    switch (op) {
      case Op::kMatmul:
      case Op::kSoftmaxRows:
      case Op::kStandardizeRows:
      case Op::kLogSumExpRows:
      case Op::kCrossEntropyRows:
      case Op::kSumRows:
      case Op::kMaxRows:
      case Op::kSquaredDistances:
        return true;
      default:
        return false;
    }
  }

  const Node& node(std::int32_t i) const { return nodes_[at(i)]; }

  // Rows and columns in which node i has entries that are used.
  Lines used_lines(std::int32_t i) const {
    const auto cols = static_cast<std::int32_t>(node(i).cols);
    std::vector<char> has_row(at(node(i).rows), 0);
    std::vector<char> has_col(at(cols), 0);
    for (std::int32_t e = 0; e < size_of(node(i)); ++e) {
      if (is_used_[at(i)][at(e)] == 0) continue;
      has_row[at(e / cols)] = 1;
      has_col[at(e % cols)] = 1;
    }
    const auto listed = [](const std::vector<char>& has) {
      std::vector<std::int32_t> list;
      for (std::size_t k = 0; k < has.size(); ++k) {
        if (has[k] != 0) list.push_back(static_cast<std::int32_t>(k));
      }
      return list;
    };
    return {listed(has_row), listed(has_col)};
  }

  // The lines of node i that are computed, as the operation allows.
  Lines lines_of(std::int32_t i) const {
    const Node& n = node(i);
    Lines lines = used_lines(i);
    switch (n.op) {
      case Op::kSoftmaxRows:
      case Op::kStandardizeRows:
      case Op::kLookup:
        lines.cols = first_numbers(n.cols);
        break;
      case Op::kMatmul: {  // the same rows of all products
        const auto rows = static_cast<std::int32_t>(n.rows / n.stack);
        std::vector<char> has_row(at(rows), 0);
        for (const std::int32_t row : lines.rows) has_row[at(row % rows)] = 1;
        lines.rows.clear();
        for (std::int32_t row = 0; row < static_cast<std::int32_t>(n.rows); ++row) {
          if (has_row[at(row % rows)] != 0) lines.rows.push_back(row);
        }
        break;
      }
      default:
        break;
    }
    return lines;
  }

  // Decides which entries of node i are computed, and marks those that they take.
  void use(std::int32_t i) {
    parts_[at(i)] = part_computed(i);
    const Node& n = node(i);
    if (moves_entries(n.op)) {
      return for_entries(i, [&](std::int32_t e) {
        const MovedEntry from = moved_from(nodes_, graph_.indices(), i, e);
        if (from.node >= 0) is_used_[at(from.node)][at(from.entry)] = 1;
      });
    }
    for (int which = 0; which < 3; ++which) {
      const std::int32_t operand = n.operands()[at(which)];
      if (operand < 0) continue;
      std::vector<char>& marks = is_used_[at(operand)];
      const Part taken = taken_by(i, which);
      if (taken.is_whole) std::ranges::fill(marks, 1);
      for (const std::int32_t e : taken.entries) marks[at(e)] = 1;
    }
  }

  template <typename F>
  void for_entries(std::int32_t i, F visit) const {
    const Part& part = parts_[at(i)];
    for (std::int32_t e = 0; part.is_whole && e < size_of(node(i)); ++e) visit(e);
    for (const std::int32_t e : part.entries) visit(e);
  }

  Part part_computed(std::int32_t i) const {
    const Node& n = node(i);
    const std::vector<char>& is_used = is_used_[at(i)];
    if (is_leaf(n) || std::ranges::find(is_used, 0) == is_used.end()) return {.is_whole = true};
    Part part = part_of(lines_of(i), n.cols);
    if (std::ssize(part.entries) == n.size()) return {.is_whole = true};
    const auto num_used = static_cast<std::size_t>(std::ranges::count(is_used, 1));
    const bool is_any_place = n.op == Op::kReshape || moves_entries(n.op) || is_of_equal_shapes(n);
    if (!is_any_place || part.entries.size() == num_used) return part;
    part.entries.clear();
    for (std::int32_t e = 0; e < size_of(n); ++e) {
      if (is_used[at(e)] != 0) part.entries.push_back(e);
    }
    part.rows = 1;
    part.cols = std::ssize(part.entries);
    return part;
  }

  // Whether the operation is elementwise and no operand is broadcast.
  bool is_of_equal_shapes(const Node& n) const {
    if (!is_elementwise(n.op) && n.op != Op::kLess && n.op != Op::kEqual) return false;
    return std::ranges::all_of(n.operands(), [&](std::int32_t operand) {
      return operand < 0 || is_same_shape(node(operand), n);
    });
  }

  // What the computed entries of node i, which does not move entries, take of an operand.
  Part taken_by(std::int32_t i, int which) const {
    const Node& n = node(i);
    const Part& own = parts_[at(i)];
    const Node& operand = node(n.operands()[at(which)]);
    if (own.is_whole) return {.is_whole = true};
    switch (n.op) {
      case Op::kReshape:
      case Op::kSoftmaxRows:
      case Op::kStandardizeRows:
        return own;
      case Op::kLogSumExpRows:
      case Op::kCrossEntropyRows:
      case Op::kSumRows:
      case Op::kMaxRows:
        return part_of({own.lines.rows, first_numbers(operand.cols)}, operand.cols);
      case Op::kSquaredDistances:
        return part_of({which == 0 ? own.lines.rows : own.lines.cols, first_numbers(operand.cols)},
                       operand.cols);
      case Op::kLookup:
        return which == 0 ? Part{.is_whole = true} : part_of({own.lines.rows, {0}}, 1);
      case Op::kMatmul:
        return taken_by_product(n, own.lines, operand, which == 0);
      default: {
        if (is_same_shape(operand, n)) return own;
        Lines lines = own.lines;
        if (operand.rows == 1) lines.rows = {0};
        if (operand.cols == 1) lines.cols = {0};
        return part_of(lines, operand.cols);
      }
    }
  }

  static Part taken_by_product(const Node& n,
                               const Lines& lines,
                               const Node& operand,
                               bool is_left) {
    const ProductOperand entries(n, operand, is_left);
    const int stack = entries.is_shared ? 1 : entries.stack;
    // The rows of the first product, or the columns of all of them.
    std::vector<std::int32_t> taken = lines.cols;
    if (is_left) {
      taken.assign(lines.rows.begin(), lines.rows.begin() + std::ssize(lines.rows) / n.stack);
    }
    const bool are_rows = is_left != entries.is_transposed;
    const auto of_first = are_rows ? taken : first_numbers(entries.stored_rows);
    Lines stored{.cols = are_rows ? first_numbers(operand.cols) : taken};
    for (int k = 0; k < stack; ++k) {
      for (const std::int32_t row : of_first) stored.rows.push_back(k * entries.stored_rows + row);
    }
    return part_of(std::move(stored), operand.cols);
  }

  std::optional<Var> copy_of(std::int32_t i) {
    const Node& n = node(i);
    const auto same = [](std::int32_t operand) { return operand; };
    if (is_leaf(n)) return copied_node(graph_, n, *result_, same);
    if (moves_entries(n.op)) return moved(i);
    const Part& own = parts_[at(i)];
    if (n.op == Op::kReshape) {
      return own.is_whole ? reshape(taken(n.a, own), n.rows, n.cols) : taken(n.a, own);
    }
    Node copy = n;
    if (!own.is_whole) {
      copy.rows = own.rows;
      copy.cols = own.cols;
    }
    for (int which = 0; which < 3; ++which) {
      if (n.operands()[at(which)] < 0) continue;
      const Var operand = taken(n.operands()[at(which)], taken_by(i, which));
      (which == 0 ? copy.a : which == 1 ? copy.b : copy.choice) = operand.node();
    }
    return copied_node(graph_, copy, *result_, same);
  }

  // Part of an operand, as a node of the result.
  Var taken(std::int32_t i, const Part& part) {
    const Var all = *kept_[at(i)];
    if (part.is_whole) return all;
    // These are among those computed, in the same order.
    if (std::ssize(part.entries) == all.rows() * all.cols()) {
      return part.rows == all.rows() && part.cols == all.cols()
                 ? all
                 : reshape(all, part.rows, part.cols);
    }
    const Node& n = node(i);
    if (n.op == Op::kConstant) {
      std::vector<double> values;
      for (const std::int32_t e : part.entries)
        values.push_back(graph_.constants()[at(n.offset + e)]);
      return result_->constant(values, part.rows, part.cols);
    }
    std::vector<std::int32_t> indices;
    for (const std::int32_t e : part.entries) indices.push_back(place_of(i, e));
    return gather(all, indices, part.rows, part.cols);
  }

  // The position of an entry among those computed.
  std::int32_t place_of(std::int32_t i, std::int32_t entry) const {
    const Part& kept = parts_[at(i)];
    if (kept.is_whole) return entry;
    const auto found = std::ranges::lower_bound(kept.entries, entry);
    return static_cast<std::int32_t>(found - kept.entries.begin());
  }

  Var moved(std::int32_t i) {
    const Node& n = node(i);
    const Part& own = parts_[at(i)];
    const auto is_kept_whole = [&](std::int32_t operand) {
      return operand < 0 || (parts_[at(operand)].is_whole && kept_[at(operand)]);
    };
    if (own.is_whole && is_kept_whole(n.a) && is_kept_whole(n.b)) {
      return copied_node(
          graph_, n, *result_, [&](std::int32_t operand) { return kept_[at(operand)]->node(); });
    }
    // Of two operands, one may be unused.
    const auto a = kept_[at(n.a)];
    const auto b = n.b < 0 ? std::nullopt : kept_[at(n.b)];
    std::vector<std::int32_t> indices;
    for_entries(i, [&](std::int32_t e) {
      const MovedEntry from = moved_from(nodes_, graph_.indices(), i, e);
      std::int32_t place = from.node < 0 ? -1 : place_of(from.node, from.entry);
      if (place >= 0 && from.node != n.a && a)
        place += static_cast<std::int32_t>(a->rows() * a->cols());
      indices.push_back(place);
    });
    const Eigen::Index rows = own.is_whole ? n.rows : own.rows;
    const Eigen::Index cols = own.is_whole ? n.cols : own.cols;
    if (a && b) return gather(*a, *b, indices, rows, cols);
    if (!a && !b) return result_->constant(std::vector<double>(at(rows * cols), 0.0), rows, cols);
    return gather(a ? *a : *b, indices, rows, cols);
  }

  const Graph& graph_;
  std::span<const Node> nodes_;
  std::vector<std::vector<char>> is_used_;  // for each node: whether something uses an entry
  std::vector<Part> parts_;                 // what of a node is computed; no entries if nothing is
  std::shared_ptr<Graph> result_ = std::make_shared<Graph>();
  std::vector<std::optional<Var>> kept_;
};

}  // namespace

std::shared_ptr<Graph> trimmed(const Graph& graph) {
  Trimming trimming(graph);
  return trimming.is_worthwhile() ? trimming.run() : nullptr;
}

}  // namespace hesscope::detail
