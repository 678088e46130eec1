// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /structure: which zero eigenvalues follow from dead parameters and from known invariances
/// of the model, which do not, and the medians without the explained ones.
AnalyzerKind structure_analyzer();

}  // namespace hesscope
