// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /hessian: diagonal, trace, frobenius_norm and, if options.save_hessian, matrix.
std::unique_ptr<Analyzer> make_hessian_analyzer(const AnalyzerOptions& options);

}  // namespace hesscope
