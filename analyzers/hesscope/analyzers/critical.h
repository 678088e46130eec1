// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /critical: the critical point that Newton's method leads to from the checkpoint
/// (find_critical_point), its loss, its index by counts, the rate at which gradient flow leaves it.
AnalyzerKind critical_analyzer();

}  // namespace hesscope
