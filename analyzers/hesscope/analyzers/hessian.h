// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /hessian: diagonal, trace, frobenius_norm and, with save-hessian, matrix.
AnalyzerKind hessian_analyzer();

}  // namespace hesscope
