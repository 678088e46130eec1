// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /influence: at a critical point, what leaving out each sample changes to first order, by
/// the exact inverse of the Hessian without its explained null space: parameters, losses,
/// lambda_max; for the most influential samples also by a Newton step on the loss of the others.
AnalyzerKind influence_analyzer();

}  // namespace hesscope
