// SPDX-License-Identifier: BSD-3-Clause
//
// Means over the batch, by which models that compute their own loss end:
//
//   ReduceMean(square(y - target)) -> Mul(0.5) -> Add(penalty)
//
// An objective is the mean over samples of a graph of one sample. So such a mean has as its value
// what it is the mean of, and Value::batch_mean beside it. What is linear in it carries it on,
// since a mean(l_n) + b = mean(a l_n + b); anything else would make samples interact, and is
// refused.
#pragma once

#include <memory>
#include <string>

#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// What Value::batch_mean of the node's results is by its inputs: null where none is a mean over
/// the batch. Refuses nodes that are not linear in those that are.
std::shared_ptr<const std::string> carried_batch_mean(const OperatorCall& call);

/// The same of a node that takes the mean itself.
std::shared_ptr<const std::string> own_batch_mean(const OperatorCall& call);

}  // namespace hesscope::onnx
