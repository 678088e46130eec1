// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <hesscope/autodiff/third_order_sweep.h>
#include <hesscope/simd/internal/dispatch.h>

namespace hesscope::detail {

/// Third-order sweeps for one instruction set.
struct ThirdOrderKernels {
  std::unique_ptr<ThirdOrderSweep> (*create)(const Graph& graph);
  double (*bytes)(const Graph& graph);  ///< memory of one
};

}  // namespace hesscope::detail

HESSCOPE_DECLARE_KERNELS(detail::ThirdOrderKernels, third_order_kernels)
