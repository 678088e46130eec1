// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include <hesscope/autodiff/graph_simplification.h>
#include <hesscope/autodiff/internal/graph_patterns.h>
#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/autodiff/internal/moved_entries.h>
#include <hesscope/autodiff/internal/node_copy.h>
#include <hesscope/autodiff/internal/product_entries.h>
#include <hesscope/structured/internal/graph/common_nodes.h>
#include <hesscope/structured/internal/graph/late_parameters.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Op = Graph::Op;
using Node = Graph::Node;

struct ScaledEntry {
  std::int32_t node;  // -1 for a zero
  int entry;
  double factor;

  bool operator==(const ScaledEntry&) const = default;
};

// The entry from which another one was moved and scaled.
ScaledEntry origin(const Graph& graph, std::int32_t node, int entry) {
  ScaledEntry found{node, entry, 1};
  while (found.node >= 0) {
    const Node& n = graph.nodes()[at(found.node)];
    if (n.op == Op::kReshape || n.op == Op::kScale) {
      if (n.op == Op::kScale) found.factor *= n.factor;
      found.node = n.a;
    } else if (moves_entries(n.op)) {
      const MovedEntry from = moved_from(graph.nodes(), graph.indices(), found.node, found.entry);
      found.node = from.node;
      found.entry = from.entry;
    } else {
      break;
    }
  }
  return found;
}

}  // namespace

LateParameters::LateParameters(const Graph& graph)
    : graph_(graph), nodes_(graph.nodes()), is_common_(common_nodes(nodes_)) {
  std::map<std::int32_t, std::vector<std::int32_t>, std::greater<>> layers;  // by the node X
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    auto found = late_product(static_cast<std::int32_t>(i));
    if (!found) continue;
    layers[nodes_[at(found->of.product)].a].push_back(found->node);
    products_.push_back(std::move(*found));
  }
  for (auto& [inputs, products] : layers) layers_.push_back(std::move(products));
}

std::optional<LateParameters::Projection> LateParameters::projection_at(std::int32_t node) const {
  Projection found{.product = node};
  if (const Node& sum = nodes_[at(node)]; sum.op == Op::kAdd) {
    for (const auto& [bias, other] : {std::pair(sum.a, sum.b), std::pair(sum.b, sum.a)}) {
      const Node& row = nodes_[at(bias)];
      if (row.rows != 1 || row.cols != sum.cols || is_common_[at(bias)] == 0) continue;
      found = {.product = GraphPatterns(graph_).root(other), .bias = bias};
    }
    if (found.bias < 0 || !is_same_shape(nodes_[at(found.product)], sum)) return std::nullopt;
  }
  const Node& product = nodes_[at(found.product)];
  const bool is_projection = product.op == Op::kMatmul && product.stack == 1 &&
                             !product.transpose_a && is_common_[at(product.a)] == 0 &&
                             is_common_[at(product.b)] != 0;
  return is_projection ? std::optional(found) : std::nullopt;
}

std::optional<LateParameters::LateProduct> LateParameters::late_product(std::int32_t node) const {
  const Node& n = nodes_[at(node)];
  if (n.op != Op::kMatmul || is_common_[at(n.b)] != 0) return std::nullopt;
  if (n.is_shared_a && n.stack > 1) return std::nullopt;
  const ScaledEntry first = origin(graph_, n.b, 0);
  const auto projection = first.node < 0 ? std::nullopt : projection_at(first.node);
  if (!projection) return std::nullopt;
  auto found = late_product(node, *projection, false);
  return found ? found : late_product(node, *projection, true);
}

// If the right operand's columns, or its rows, are rows of the projection.
std::optional<LateParameters::LateProduct> LateParameters::late_product(
    std::int32_t node, const Projection& projection, bool is_transposed) const {
  const Node& n = nodes_[at(node)];
  const ProductOperand operand(n, nodes_[at(n.b)], false);
  const int stack = operand.is_shared ? 1 : operand.stack;
  const int num_rows = is_transposed ? operand.cols() : operand.rows();
  const int num_cols = is_transposed ? operand.rows() : operand.cols();
  const auto origin_of = [&](int k, int row, int col) {
    return origin(
        graph_, n.b, is_transposed ? operand.entry(k, col, row) : operand.entry(k, row, col));
  };
  const ScaledEntry first = origin_of(0, 0, 0);
  const auto width = static_cast<int>(nodes_[at(first.node)].cols);
  LateProduct found{
      .node = node, .of = projection, .factor = first.factor, .is_transposed = is_transposed};
  for (int row = 0; row < num_rows; ++row) {
    found.rows.push_back(origin_of(0, row, 0).entry / width);
  }
  for (int k = 0; k < stack; ++k) {
    for (int col = 0; col < num_cols; ++col) {
      found.cols.push_back(origin_of(k, 0, col).entry % width);
      for (int row = 0; row < num_rows; ++row) {
        const int entry = found.rows[at(row)] * width + found.cols.back();
        if (origin_of(k, row, col) != ScaledEntry{first.node, entry, first.factor}) {
          return std::nullopt;
        }
      }
    }
  }
  return num_rows > 1 ? std::optional(std::move(found)) : std::nullopt;
}

class LateParameters::Builder {
 public:
  explicit Builder(const LateParameters& late) : late_(late), nodes_(late.nodes_) {}

  std::shared_ptr<const Graph> build(std::span<const std::int32_t> products) && {
    std::vector<char> is_chosen(nodes_.size(), 0);
    for (const std::int32_t product : products) is_chosen[at(product)] = 1;
    std::vector<const LateProduct*> late_at(nodes_.size(), nullptr);
    for (const LateProduct& late : late_.products_) {
      if (is_chosen[at(late.node)] != 0) late_at[at(late.node)] = &late;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (const LateProduct* const late = late_at[i]) {
        copies_.push_back(late->is_transposed ? scores(*late) : mixture(*late));
      } else {
        copies_.push_back(copied_node(late_.graph_, nodes_[i], *result_, [&](std::int32_t operand) {
          return copies_[at(operand)].node();
        }));
      }
    }
    result_->set_output(copies_[at(late_.graph_.output())]);
    return simplified(*result_);
  }

 private:
  const Node& node_of(const LateProduct& late) const { return nodes_[at(late.node)]; }

  Var left_of(const LateProduct& late) const { return copies_[at(node_of(late).a)]; }

  // Number of W one below the other.
  Index num_weights(const LateProduct& late) const {
    return node_of(late).is_shared_b ? 1 : node_of(late).stack;
  }

  Index num_cols(const LateProduct& late) const {
    return std::ssize(late.cols) / num_weights(late);
  }

  // The rows of X.
  Var inputs(const LateProduct& late) const {
    const Var all = copies_[at(nodes_[at(late.of.product)].a)];
    const auto width = static_cast<std::int32_t>(all.cols());
    std::vector<std::int32_t> entries;
    for (const std::int32_t row : late.rows) {
      for (std::int32_t j = 0; j < width; ++j) entries.push_back(row * width + j);
    }
    return gather(all, entries, std::ssize(late.rows), width);
  }

  // W, or W^T for scores, for each product of the stack.
  Var weights(const LateProduct& late) const {
    const Node& product = nodes_[at(late.of.product)];
    const auto num_inputs = static_cast<std::int32_t>(nodes_[at(product.a)].cols);
    const auto entry = [&](std::int32_t input, std::int32_t col) {
      return product.transpose_b ? col * num_inputs + input
                                 : input * static_cast<std::int32_t>(product.cols) + col;
    };
    const Index count = num_cols(late);
    std::vector<std::int32_t> entries;
    for (Index k = 0; k < num_weights(late); ++k) {
      const auto cols = std::span(late.cols).subspan(at(k * count), at(count));
      if (late.is_transposed) {
        for (const std::int32_t col : cols) {
          for (std::int32_t j = 0; j < num_inputs; ++j) entries.push_back(entry(j, col));
        }
      } else {
        for (std::int32_t j = 0; j < num_inputs; ++j) {
          for (const std::int32_t col : cols) entries.push_back(entry(j, col));
        }
      }
    }
    const Index width = late.is_transposed ? num_inputs : count;
    return scaled(late,
                  gather(copies_[at(product.b)], entries, std::ssize(entries) / width, width));
  }

  static Var scaled(const LateProduct& late, Var a) {
    return late.factor == 1 ? a : late.factor * a;
  }

  // (A X) W + (A 1) b^T
  Var mixture(const LateProduct& late) {
    const Node& n = node_of(late);
    const Var left = left_of(late);
    const auto mixed = [&](Var shared) {
      return stacked_matmul(
          left,
          shared,
          {.stack = n.stack, .transpose_a = n.transpose_a, .is_shared_b = n.stack > 1});
    };
    const Var values = stacked_matmul(
        mixed(inputs(late)), weights(late), {.stack = n.stack, .is_shared_b = n.is_shared_b});
    if (late.of.bias < 0) return values;
    // The bias of each row.
    const Index width = num_cols(late);
    const Index rows = values.rows() / num_weights(late);
    std::vector<std::int32_t> entries;
    for (Index r = 0; r < values.rows(); ++r) {
      const auto own = std::span(late.cols).subspan(at(r / rows * width), at(width));
      entries.insert(entries.end(), own.begin(), own.end());
    }
    const Var bias = scaled(late, gather(copies_[at(late.of.bias)], entries, values.rows(), width));
    const bool are_sums_one = !n.transpose_a && GraphPatterns(late_.graph_).logits(n.a) >= 0;
    if (are_sums_one) return values + bias;
    const Eigen::VectorXd ones = Eigen::VectorXd::Ones(std::ssize(late.rows));
    return values + hadamard(mixed(result_->constant(ones)), bias);
  }

  // (Q W^T) X^T + (Q b) 1^T
  Var scores(const LateProduct& late) const {
    const Node& n = node_of(late);
    const auto with_left = [&](Var right) {
      return stacked_matmul(
          left_of(late),
          right,
          {.stack = n.stack, .transpose_a = n.transpose_a, .is_shared_b = n.is_shared_b});
    };
    const Var products =
        stacked_matmul(with_left(weights(late)),
                       inputs(late),
                       {.stack = n.stack, .transpose_b = true, .is_shared_b = n.stack > 1});
    if (late.of.bias < 0) return products;
    const Var bias = gather(copies_[at(late.of.bias)], late.cols, std::ssize(late.cols), 1);
    return products + with_left(scaled(late, bias));
  }

  const LateParameters& late_;
  std::span<const Node> nodes_;
  std::shared_ptr<Graph> result_ = std::make_shared<Graph>();
  std::vector<Var> copies_;
};

std::shared_ptr<const Graph> LateParameters::graph(std::span<const std::int32_t> products) const {
  return Builder(*this).build(products);
}

}  // namespace hesscope::detail
