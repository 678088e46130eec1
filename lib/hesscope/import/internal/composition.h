// SPDX-License-Identifier: BSD-3-Clause
//
// Steps that several operators are composed of.
#pragma once

#include <cstdint>

#include <Eigen/Core>

#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// Of two matrices of one shape, or of which one is broadcast.
using Combination = Var (*)(Var, Var);

/// The call's second tensor. Before opset 7 it stood along the axes of the first from `axis` on.
Value second_operand(const OperatorCall& call);

/// Elementwise, spread to the axes that both broadcast to; refusals as broadcast_axes().
Value combined(const OperatorCall& call, const Value& a, const Value& b, Combination operation);
Value plus(const OperatorCall& call, const Value& a, const Value& b);
Value minus(const OperatorCall& call, const Value& a, const Value& b);
Value times(const OperatorCall& call, const Value& a, const Value& b);

/// 1 where a <= b, 0 elsewhere, and where either is NaN.
Var less_or_equal(Var a, Var b);

/// Each entry divided by a number: not a product with its inverse, of which a jump may fall short.
Var over(Var a, double number);

/// The mean of each row, a column.
Var mean_rows(Var a);

/// The least of each row, and the product of each row, by halves: a column.
Var min_rows(Var a);
Var product_rows(Var a);

/// (sum_j |a_ij|^p)^(1/p) of each row i, a column. For even p the slope at a row of zeros is
/// infinite. Refuses p < 1.
Var norm_rows(const OperatorCall& call, Var a, double p);

/// The root of sums of squares. Of 0 it is 0, and so are its derivatives: PyTorch's of a norm,
/// where the root's slope is infinite.
Var root_of_squares(Var sums);

/// The root of each entry: root_of_squares() of what the graph shows to be sums of squares, as
/// exporters spell out norms and deviations.
Var root_of(Var a);

/// A matrix times each of the tensor's columns along an axis: that axis has as many entries as the
/// matrix has rows.
Value multiplied_along(const OperatorCall& call,
                       const Value& value,
                       int axis,
                       const Eigen::Ref<const Eigen::MatrixXd>& matrix);

}  // namespace hesscope::onnx
