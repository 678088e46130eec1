// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /population: eigenvalues, condition numbers and index over more and more samples, which
/// are newly drawn and never kept, with confidence intervals; and how heavy the tail of single
/// samples' curvature is, which determines how fast these numbers converge.
AnalyzerKind population_analyzer();

}  // namespace hesscope
