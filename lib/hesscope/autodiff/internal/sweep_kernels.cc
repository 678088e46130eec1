// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/autodiff/internal/lane_sweep.h>
#include <hesscope/autodiff/internal/sweep_kernels.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

// A gradient sweep takes one register for a number. A second-order sweep takes nine, of the 16
// there are below AVX-512: more lanes would spill them.
#if HESSCOPE_LANES == 8
using BestSweep = detail::LaneSweep<8, 8, InstructionSet::kAvx512>;
#elif HESSCOPE_LANES == 4
using BestSweep = detail::LaneSweep<4, 2, InstructionSet::kAvx2>;
#else
using BestSweep = detail::LaneSweep<2, 2, InstructionSet::kBaseline>;
#endif

constexpr detail::SweepKernels kKernels = {
    .create = [](const Graph& graph) -> std::unique_ptr<Sweep> {
      return std::make_unique<BestSweep>(graph);
    },
    .bytes_per_entry = BestSweep::kBytesPerEntry,
};

}  // namespace

const detail::SweepKernels& sweep_kernels() { return kKernels; }

}  // namespace hesscope::HESSCOPE_ISA
