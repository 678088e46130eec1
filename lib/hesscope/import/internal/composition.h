// SPDX-License-Identifier: BSD-3-Clause
//
// Building blocks shared by several operators.
#pragma once

#include <cstdint>

#include <Eigen/Core>

#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// An operation on two matrices that have the same shape or of which one is broadcast.
using Combination = Var (*)(Var, Var);

/// The call's second tensor. Before opset 7 it was aligned with the axes of the first from `axis`
/// on.
Value second_operand(const OperatorCall& call);

/// Elementwise, with both broadcast to common axes; refuses as broadcast_axes().
Value combined(const OperatorCall& call, const Value& a, const Value& b, Combination operation);
Value plus(const OperatorCall& call, const Value& a, const Value& b);
Value minus(const OperatorCall& call, const Value& a, const Value& b);
Value times(const OperatorCall& call, const Value& a, const Value& b);

/// 1 if a <= b, else 0; 0 also if either is NaN.
Var less_or_equal(Var a, Var b);

/// Divides each entry by a number. Not a product with its inverse, which could just miss a jump.
Var over(Var a, double number);

/// The mean of each row, as a column.
Var mean_rows(Var a);

/// The minimum of each row, and the product of each row, computed by halves; as a column.
Var min_rows(Var a);
Var product_rows(Var a);

/// (sum_j |a_ij|^p)^(1/p) for each row i, as a column. For even p the slope at a row of zeros is
/// infinite. Refuses p < 1.
Var norm_rows(const OperatorCall& call, Var a, double p);

/// The root of sums of squares. At 0, the root and its derivatives are 0, as for PyTorch's norm,
/// although the slope of the root is infinite there.
Var root_of_squares(Var sums);

/// The root of each entry; root_of_squares() if the graph shows that entries are sums of squares,
/// as exporters write norms and deviations.
Var root_of(Var a);

/// A matrix times each column of the tensor along an axis; that axis then has as many entries as
/// the matrix has rows.
Value multiplied_along(const OperatorCall& call,
                       const Value& value,
                       int axis,
                       const Eigen::Ref<const Eigen::MatrixXd>& matrix);

}  // namespace hesscope::onnx
