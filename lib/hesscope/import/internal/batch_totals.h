// SPDX-License-Identifier: BSD-3-Clause
//
// Means and sums over the batch, with which models that compute their own loss end:
//
//   ReduceMean(square(y - target)) -> Mul(0.5) -> Add(penalty)
//   ReduceSum(square(y - target)) -> Div(Cast(N))
//
// An objective is the mean over samples of the graph of one sample. The value of such a mean is
// therefore the quantity that is averaged, and Value::batch_total marks it. Operations that are
// linear in it keep the mark, since a mean(l_n) + b = mean(a l_n + b); all others would make
// samples interact, and are refused. A sum must be divided by the number of samples before anything
// except other sums is added.
#pragma once

#include <memory>

#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// Value::batch_total of the node's results as it follows from the inputs: null if no input has
/// one. Refuses nodes that are not linear in the inputs that have one.
std::shared_ptr<const BatchTotal> carried_batch_total(const OperatorCall& call);

/// The same for a node that computes the total itself.
std::shared_ptr<const BatchTotal> own_batch_total(const OperatorCall& call, BatchTotal::Kind kind);

}  // namespace hesscope::onnx
