// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /noise: how minibatch gradients scatter about the gradient over all samples, how heavy the
/// tail of their distance is, how large a batch averages it away, and whether it lies where the
/// curvature is.
AnalyzerKind noise_analyzer();

}  // namespace hesscope
