// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /edge: whether training is at its edge of stability, at a cost low enough for every row of
/// a history: the largest eigenvalue of H and of P^-1/2 H P^-1/2 with the preconditioner P of the
/// current optimiser, the largest eigenvalue at which that optimiser is stable, and the curvature
/// along the gradient and along the update.
///
/// The optimiser is that of the checkpoint (optimizer_state.h) or, while a run trains, that of the
/// run.
/// @cost one eigenpair of H and, unless P = 1, one of P^-1/2 H P^-1/2 (extremes.h): with a matrix,
///       a search and a factorisation of n^3 / 3 operations each, which prove the rank; otherwise
///       products with H. Every search starts from random vectors, never from the previous point:
///       only then does it prove something, and no row depends on another.
/// @source J. Cohen et al. (2021), arXiv 2103.00065; (2022), arXiv 2207.14484.
AnalyzerKind edge_analyzer();

}  // namespace hesscope
