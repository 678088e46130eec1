// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /ggn: the Hessian as its Gauss-Newton part G plus the functional part H - G: spectra of
/// both, norms by parameter tensors.
/// @source W. Ormaniec et al., What does it mean to be a Transformer? Insights from a theoretical
///         Hessian analysis (ICLR 2025), who call G the outer-product part.
AnalyzerKind ggn_analyzer();

}  // namespace hesscope
