// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <hesscope/autodiff/line_sweep.h>
#include <hesscope/simd/internal/dispatch.h>

namespace hesscope::detail {

/// Sweeps along lines, for one instruction set.
struct LineKernels {
  std::unique_ptr<LineSweep> (*create)(const Graph& graph);
  double (*bytes)(const Graph& graph);  ///< memory of one
};

}  // namespace hesscope::detail

HESSCOPE_DECLARE_KERNELS(detail::LineKernels, line_kernels)
