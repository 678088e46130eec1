// SPDX-License-Identifier: BSD-3-Clause
//
// The operations of a work, counted from its graph: the least time that it could take is that of a
// dgemm with as many operations.
#pragma once

#include <optional>

#include "works.h"

namespace hesscope::bench {

/// In units of 10^9 operations, where a multiplication and an addition count as one each. For the
/// Hessian, the operations of the plan of graph_hessian(); for the gradient, those of one reverse
/// sweep over each sample. Nothing if the model uses another method, or for other quantities.
std::optional<double> arithmetic_gflop(const Problem& problem,
                                       Quantity quantity,
                                       InstructionSet set);

}  // namespace hesscope::bench
