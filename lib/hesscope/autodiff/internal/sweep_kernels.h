// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <hesscope/autodiff/sweep.h>
#include <hesscope/simd/internal/dispatch.h>

namespace hesscope::detail {

/// Sweeps for one instruction set.
struct SweepKernels {
  std::unique_ptr<Sweep> (*create)(const Graph& graph);
  double (*bytes)(const Graph& graph);  ///< memory of one
};

}  // namespace hesscope::detail

HESSCOPE_DECLARE_KERNELS(detail::SweepKernels, sweep_kernels)
