// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/structured/internal/graph/curvature_products.h>

namespace hesscope::detail {

/// Row panels of a task: they stay in a cache of 512 KiB.
inline constexpr int kTaskPanels = 24;
inline constexpr int kTaskRows = kTaskPanels * kPanelRows;

/// One task; see CurvatureProducts::run().
void run_product(const CurvatureProducts& products,
                 const ProductTask& task,
                 const ChunkRows& rows,
                 const TangentRows& tangents,
                 double* scratch,
                 HessianTarget h);

}  // namespace hesscope::detail
