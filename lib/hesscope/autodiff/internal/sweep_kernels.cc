// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/autodiff/internal/lane_sweep.h>
#include <hesscope/autodiff/internal/sweep_kernels.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

constexpr detail::SweepKernels kKernels = {
    .create = [](const Graph& graph) -> std::unique_ptr<Sweep> {
      return std::make_unique<LaneSweep>(graph);
    },
    .bytes = LaneSweep::bytes,
};

}  // namespace

const detail::SweepKernels& sweep_kernels() { return kKernels; }

}  // namespace hesscope::HESSCOPE_ISA
