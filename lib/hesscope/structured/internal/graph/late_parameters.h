// SPDX-License-Identifier: BSD-3-Clause
//
// Products of matrices, associated so that parameters enter late.
//
// Attention mixes values X V + 1 b^T over tokens, with weights A that depend on the sample, and
// compares queries Q with keys X K + 1 b^T. There, a change of V or K spreads over all rows of what
// follows. Associated differently,
//   A (X W + 1 b^T)    = (A X) W + (A 1) b^T,
//   Q (X W + 1 b^T)^T  = (Q W^T) X^T + (Q b) 1^T,
// the parameters enter row by row of the result: a sweep that begins there reaches one row, and a
// model that uses the row of one token only has one row of them. In return, products with A and Q
// have as many columns as X has.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <hesscope/autodiff/graph.h>

namespace hesscope::detail {

class LateParameters {
 public:
  /// Finds the products A B and Q B^T above, and stacks of them. `graph` must outlive it.
  /// @cost linear in the entries of the right operands of products
  explicit LateParameters(const Graph& graph);

  /// The products found, by their X, from the output to the inputs; as nodes.
  const std::vector<std::vector<std::int32_t>>& layers() const { return layers_; }

  /// The same loss with these products associated as above; without a prediction.
  std::shared_ptr<const Graph> graph(std::span<const std::int32_t> products) const;

 private:
  // The node X W or X W + 1 b^T.
  struct Projection {
    std::int32_t product = -1;  // X W
    std::int32_t bias = -1;     // b^T, a row; -1 if there is none
  };

  // The right operand of a product: rows and columns of a projection, or their transpose, times a
  // factor.
  struct LateProduct {
    std::int32_t node = -1;
    Projection of = {};
    double factor = 1;
    bool is_transposed = false;
    std::vector<std::int32_t> rows = {};  // of X
    std::vector<std::int32_t> cols = {};  // of W, for one product of the stack after the other
  };

  class Builder;

  std::optional<Projection> projection_at(std::int32_t node) const;
  std::optional<LateProduct> late_product(std::int32_t node) const;
  std::optional<LateProduct> late_product(std::int32_t node,
                                          const Projection& projection,
                                          bool is_transposed) const;

  const Graph& graph_;
  std::span<const Graph::Node> nodes_;
  std::vector<char> is_common_;  // for each node: whether all samples share its values
  std::vector<LateProduct> products_;
  std::vector<std::vector<std::int32_t>> layers_;
};

}  // namespace hesscope::detail
