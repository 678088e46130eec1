// SPDX-License-Identifier: BSD-3-Clause
//
// Reduces recorded graphs.
#pragma once

#include <memory>

#include <hesscope/autodiff/graph.h>

namespace hesscope {

/// The graph without what neither its output nor its prediction depends on: nodes, and rows and
/// columns of products and of operations on rows. Single operations take the place of expressions
/// that exporters spell out:
///   (a - mean(a)) / sqrt(mean((a - mean(a))^2) + epsilon)   standardize_rows(a, epsilon)
///   a / sqrt(mean(a^2) + epsilon)                           rms_normalize_rows(a, epsilon)
///   x (1 + erf(k x)) / 2                                    gelu, x Phi(sqrt(2) k x)
///   c a, a / c (where no step takes it)                     a scaled by a number, or by 1 / c
///   c (A B), A B / c                                        (c A) B, of the smaller factor
///   gather(gather(a)), slice(slice(a))                      gather(a), slice(a), a where whole
///   mask * theta                                            those parameters that it leaves,
/// where means are over rows, written as quotients or as products with the reciprocal; c is a
/// constant number, and the mask consists of constants 0 and 1. Results may differ in their last
/// bits. All parameters are kept. Nodes are renumbered: Vars of the old graph are not valid for the
/// new one.
/// @cost linear in the entries of all nodes
std::shared_ptr<Graph> simplified(const Graph& graph);

}  // namespace hesscope
