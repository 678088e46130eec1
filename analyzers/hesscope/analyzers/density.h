// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /density: the spectrum as a distribution: the rules of stochastic Lanczos quadrature and
/// their curves, the exact curves if all eigenvalues are known, and the distance between the two.
AnalyzerKind density_analyzer();

}  // namespace hesscope
