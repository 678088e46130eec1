// SPDX-License-Identifier: BSD-3-Clause
//
// Means and sums over the batch, by which models that compute their own loss end:
//
//   ReduceMean(square(y - target)) -> Mul(0.5) -> Add(penalty)
//   ReduceSum(square(y - target)) -> Div(Cast(N))
//
// An objective is the mean over samples of a graph of one sample. So such a mean has as its value
// what it is the mean of, and Value::batch_total beside it. What is linear in it carries it on,
// since a mean(l_n) + b = mean(a l_n + b); anything else would make samples interact, and is
// refused. A sum is divided by the number of samples before anything but other sums is added.
#pragma once

#include <memory>

#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// What Value::batch_total of the node's results is by its inputs: null where none has one. Refuses
/// nodes that are not linear in those that have.
std::shared_ptr<const BatchTotal> carried_batch_total(const OperatorCall& call);

/// The same of a node that takes the total itself.
std::shared_ptr<const BatchTotal> own_batch_total(const OperatorCall& call, BatchTotal::Kind kind);

}  // namespace hesscope::onnx
