// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /stability: the sharpness compared with the largest one at which an optimiser with the
/// given learning rate is stable on a quadratic; with Adam's preconditioner P also the spectrum of
/// P^-1/2 H P^-1/2 and its condition numbers; for given minibatch sizes, the curvature that their
/// gradients see (noise/batch_sharpness.h).
AnalyzerKind stability_analyzer();

}  // namespace hesscope
