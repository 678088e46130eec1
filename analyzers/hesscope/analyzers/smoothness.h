// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /smoothness: how fast the gradient changes at a checkpoint: at most (spectral norm), along
/// the step to the next checkpoint (by the Hessian and by secants), and along the updates of other
/// optimisers; and, for the run, the constants of (L0, L1)-smoothness.
AnalyzerKind smoothness_analyzer();

}  // namespace hesscope
