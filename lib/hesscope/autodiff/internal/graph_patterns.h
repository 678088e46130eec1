// SPDX-License-Identifier: BSD-3-Clause
//
// Finds expressions that exporters spell out in a graph's nodes (graph_simplification.h).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <hesscope/autodiff/graph.h>

namespace hesscope::detail {

class GraphPatterns {
 public:
  /// `graph` must outlive it.
  explicit GraphPatterns(const Graph& graph)
      : nodes_(graph.nodes()), constants_(graph.constants()) {}

  /// The kStandardizeRows node to which node i is equivalent.
  std::optional<Graph::Node> standardized(std::int32_t i) const;

  /// The kGelu node to which node i is equivalent, whose operand may have another shape: x (1 +
  /// erf(k x)) / 2, with the factors in any order.
  std::optional<Graph::Node> gelu(std::int32_t i) const;

  /// x if node i is exp(x), with the same shape; else -1.
  std::int32_t exponent(std::int32_t i) const;

  /// x if node i is 1 + exp(x), with the same shape; else -1.
  std::int32_t exponent_beside_one(std::int32_t i) const;

  /// x if node i is 1 + |x|, with the same shape; else -1.
  std::int32_t magnitude_beside_one(std::int32_t i) const;

  /// x if node i is the column of the row sums of exp(x); else -1.
  std::int32_t exponents_of_sums(std::int32_t i) const;

  /// x if node i is softmax_rows(x), with the same shape; else -1.
  std::int32_t logits(std::int32_t i) const;

  /// Whether node i is a constant whose entries are all 1.
  bool are_ones(std::int32_t i) const;

  /// For node i = factor * operand, where the operand has its shape.
  struct Scaled {
    double factor;
    std::int32_t operand;
  };

  std::optional<Scaled> scaled(std::int32_t i) const;

  /// For node i = mask * operand, entry by entry, both with its shape, where the mask consists of
  /// constants 0 and 1, and the operand of parameters.
  struct Masked {
    std::span<const double> mask;
    std::int32_t operand;
  };

  std::optional<Masked> masked_parameters(std::int32_t i) const;

  /// For node i = sigmoid(sign * argument), possibly with reshapes in between: 1 - sigmoid(x) is
  /// sigmoid(-x).
  struct Sigmoid {
    double sign;
    std::int32_t argument;
  };

  std::optional<Sigmoid> sigmoid(std::int32_t i) const;

  /// Whether node i is a sum of squares, or a product of two of them, times positive constants:
  /// exporters write norms, standard deviations, and the product of two norms in the denominator of
  /// a cosine in this way.
  bool is_sum_of_squares(std::int32_t i) const;

  /// The node that i is a reshape of, or i.
  std::int32_t root(std::int32_t i) const;

  /// Whether node i consists of parameters that are at most moved and scaled.
  bool is_of_parameters(std::int32_t i) const;

 private:
  using Node = Graph::Node;

  const Node& node(std::int32_t i) const { return nodes_[static_cast<std::size_t>(i)]; }

  /// The node from whose entries, moved and supplemented by zeros, node i is made.
  std::int32_t before_moves(std::int32_t i) const;
  std::span<const double> constant(std::int32_t i) const;
  std::optional<double> number(std::int32_t i) const;
  bool has_same_shape(std::int32_t i, std::int32_t j) const;
  bool is_column_of(std::int32_t i, std::int32_t rows) const;
  std::int32_t beside_one(std::int32_t i) const;
  std::int32_t rows_of_mean(std::int32_t i) const;
  std::int32_t root_of_square(std::int32_t i) const;
  bool is_positive_constant(std::int32_t i) const;
  std::int32_t without_factors(std::int32_t i) const;
  std::int32_t under_root(std::int32_t i) const;
  std::int32_t under_inverse_root(std::int32_t i) const;
  std::optional<Node> standardized(std::int32_t rows, std::int32_t square) const;
  double split_factors(std::int32_t i,
                       std::int32_t whole,
                       int depth,
                       std::vector<std::int32_t>& factors) const;
  std::optional<Scaled> argument_of_erf(std::int32_t i) const;

  std::span<const Node> nodes_;
  std::span<const double> constants_;
};

}  // namespace hesscope::detail
