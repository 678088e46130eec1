// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <hesscope/autodiff/sweep.h>

namespace hesscope::detail {

/// Sweeps of one instruction set.
struct SweepKernels {
  std::unique_ptr<Sweep> (*create)(const Graph& graph);
  double bytes_per_entry;
};

}  // namespace hesscope::detail

namespace hesscope::baseline {
const detail::SweepKernels& sweep_kernels();
}

namespace hesscope::avx2 {
const detail::SweepKernels& sweep_kernels();
}

namespace hesscope::avx512 {
const detail::SweepKernels& sweep_kernels();
}
