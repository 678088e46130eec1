// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /population: eigenvalues, condition numbers and index over more and more samples, drawn
/// anew and never kept, with confidence intervals; and how heavy the tail of single samples'
/// curvature is, on which it depends how fast they come to rest.
AnalyzerKind population_analyzer();

}  // namespace hesscope
