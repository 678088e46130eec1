// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /blocks: the Hessian by parameter tensors: spectra of the diagonal blocks, their
/// differences (Jensen-Shannon distances, smoothed and by decades), and norms of all blocks and of
/// the gradient's parts.
/// @source Y. Zhang et al. (2024), Why Transformers need Adam: a Hessian perspective, arXiv
///         2402.16788.
AnalyzerKind blocks_analyzer();

}  // namespace hesscope
