// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /sharpening: how the K outermost eigenvalues at each end change with the parameters. Their
/// gradients, by exact third derivatives; what gradient flow makes of them (progressive sharpening)
/// and what oscillation along their eigenvectors does (self-stabilisation); the change since the
/// checkpoint before, beside that which the gradients predict; the oscillation with which gradient
/// descent stays at the edge of stability, as theory predicts it; and along the eigenvectors of the
/// largest, by fourth derivatives, whether descent beyond the edge has an orbit of period two.
AnalyzerKind sharpening_analyzer();

}  // namespace hesscope
