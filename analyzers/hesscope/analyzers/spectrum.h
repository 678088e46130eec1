// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /spectrum: all eigenvalues, the extreme and median ones with residuals, counts and proof.
AnalyzerKind spectrum_analyzer();

}  // namespace hesscope
