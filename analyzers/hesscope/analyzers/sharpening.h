// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /sharpening: how the K outermost eigenvalues at each end change with the parameters: their
/// gradients, by exact third derivatives; how gradient flow changes them (progressive sharpening),
/// and what oscillation along their eigenvectors does (self-stabilisation); their change since the
/// previous checkpoint, next to the change that the gradients predict; the oscillation by which
/// gradient descent stays at the edge of stability, as theory predicts it; and, for the largest
/// eigenvalues, by fourth derivatives along their eigenvectors, whether descent beyond the edge has
/// an orbit of period two.
AnalyzerKind sharpening_analyzer();

}  // namespace hesscope
