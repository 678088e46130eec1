// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /sampling: how far eigenvalues and condition numbers over the given samples may be from
/// those over the population from which the samples were drawn.
AnalyzerKind sampling_analyzer();

}  // namespace hesscope
