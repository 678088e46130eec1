// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /eigenpairs: the K outermost eigenpairs at each end, where their eigenvectors live
/// (participation, weight in each tensor), how far they have turned since the previous checkpoint,
/// and how much of the gradient lies in them.
AnalyzerKind eigenpairs_analyzer();

}  // namespace hesscope
