// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /edge: what tells whether training is at its edge of stability, at little cost, for every
/// row of a history: the largest eigenvalue of H and of P^-1/2 H P^-1/2 with the preconditioner P
/// of the optimiser at hand, the largest at which that optimiser is stable, and the curvature along
/// the gradient and along the update.
///
/// The optimiser is the checkpoint's (optimizer_state.h), while a run trains its own.
/// @cost one eigenpair of H and, unless P = 1, one of P^-1/2 H P^-1/2 (extremes.h): with a matrix a
///       search and a factorisation of n^3 / 3 operations each, which prove the rank; products with
///       H otherwise. Every point is searched from random vectors, none from the point before: a
///       search proves something only of random ones, and no row depends on another.
/// @source J. Cohen et al. (2021), arXiv 2103.00065; (2022), arXiv 2207.14484.
AnalyzerKind edge_analyzer();

}  // namespace hesscope
