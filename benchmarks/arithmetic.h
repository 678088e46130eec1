// SPDX-License-Identifier: BSD-3-Clause
//
// What a work computes, counted from its graph: the least time that it could take is that of a
// dgemm of as many operations.
#pragma once

#include <optional>

#include "works.h"

namespace hesscope::bench {

/// 10^9 operations, a multiplication and an addition each one: of the Hessian, those of the plan
/// of graph_hessian(), of the gradient those of one reverse sweep over each sample. None where the
/// model goes another way, or the quantity is another.
std::optional<double> arithmetic_gflop(const Problem& problem,
                                       Quantity quantity,
                                       InstructionSet set);

}  // namespace hesscope::bench
