// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /spectrum: all eigenvalues, the extreme and median ones with residuals, counts and proof.
std::unique_ptr<Analyzer> make_spectrum_analyzer(const AnalyzerOptions& options);

}  // namespace hesscope
