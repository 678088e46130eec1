// SPDX-License-Identifier: BSD-3-Clause
//
// Building blocks for the invariances of models. A model's loss depends on some of its parameters
// only through a product, a sum, or a homogeneous function. Each family here takes the matrices and
// lists the generators of the maps that leave that product, sum or function unchanged.
#pragma once

#include <string>
#include <vector>

#include <hesscope/core/invariance.h>
#include <hesscope/models/model.h>

namespace hesscope {

/// A matrix among the parameters: entry (r, c) is at offset + r row_stride + c col_stride. Without
/// columns, it stands for a bias that a layer does not have.
struct MatrixView {
  Eigen::Index offset = 0;
  Eigen::Index rows = 0;
  Eigen::Index cols = 0;
  Eigen::Index row_stride = 0;
  Eigen::Index col_stride = 0;

  Eigen::Index index(Eigen::Index r, Eigen::Index c) const {
    return offset + r * row_stride + c * col_stride;
  }

  MatrixView transposed() const { return {offset, cols, rows, col_stride, row_stride}; }

  MatrixView middle_rows(Eigen::Index first, Eigen::Index count) const {
    return {index(first, 0), count, cols, row_stride, col_stride};
  }
};

/// A parameter of rank 1 (as a column) or 2; for rank 3, matrix i of the stack.
/// @throws PreconditionError if the model has no such parameter or it has no matrix i.
MatrixView matrix_view(const Model& model, const std::string& name, Eigen::Index i = 0);

/// X -> c X for each of `grown`, Y -> Y / c for each of `shrunk`. One generator.
Invariance rescaling(const std::vector<MatrixView>& grown, const std::vector<MatrixView>& shrunk);

/// Keeps V relu(W z + b): for unit r, scales row r of W and entry r of b by c, and column r of V by
/// 1 / c. One generator per unit. Not for activations that are not homogeneous.
Invariance rescaling_of_units(const MatrixView& w, const MatrixView& b, const MatrixView& v);

/// All maps that keep X^T Y: X -> A X, Y -> A^-T Y with A regular, m x m, for all matrices X and Y,
/// which have m rows each. m^2 generators E_ij: row i of X += row j of X, row j of Y -= row i of Y.
Invariance change_of_basis(const std::vector<MatrixView>& x, const std::vector<MatrixView>& y);

/// All maps that keep X^T X: X -> A X with A orthogonal, m x m, for all matrices X of m rows.
/// m (m - 1) / 2 generators.
Invariance rotation(const std::vector<MatrixView>& x);

/// Keeps X^T y for a vector y: X -> X + S y z^T with S skew-symmetric, for all matrices X with as
/// many rows, m, as y. m (m - 1) / 2 generators for each column of each X.
///
/// Together with change_of_basis these span all directions that leave X^T y unchanged; if X has
/// more columns than rows, changes of basis alone do not.
Invariance addition_across(const std::vector<MatrixView>& x, const MatrixView& y);

/// Keeps W h + b where h = a + ...: a -> a + t, b -> b - W t. a.rows generators.
Invariance translation(const MatrixView& a, const MatrixView& w, const MatrixView& b);

/// Adds t to the entries of each list in turn, with their signs: constant generators.
Invariance shifts(std::vector<std::vector<AffineGenerator::Constant>> directions);

/// Keeps the differences between entries of x h + b by adding the same row to every row of x and b,
/// as is possible for logits. One generator for each column of x and of b.
Invariance shift_of_all_rows(const MatrixView& x, const MatrixView& b);

/// The generators of all parts, one part after the other, under one name.
Invariance joined(std::string name, std::vector<Invariance> parts);

}  // namespace hesscope
