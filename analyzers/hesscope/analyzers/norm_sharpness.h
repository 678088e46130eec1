// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /norm-sharpness: sharpness in the norms in which optimisers descend: max d^T H d over the
/// unit balls of the largest entry (sign descent, Adam), of the blocks' norms (descent normalised
/// block by block) and of the matrices' spectral norms (Muon). A direction bounds each from below,
/// and a proof from above. Also the curvature of update and gradient within and across parameter
/// tensors.
/// @source L. Balles, F. Pedregosa & N. Le Roux (2020), arXiv 2002.08056; J. Bernstein & L.
///         Newhouse (2024), arXiv 2409.20325; S. Xie & Z. Li (2024), arXiv 2404.04454.
AnalyzerKind norm_sharpness_analyzer();

}  // namespace hesscope
