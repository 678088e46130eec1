// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/simd/internal/dispatch.h>
#include <hesscope/simd/internal/pack_kernels.h>

HESSCOPE_DECLARE_KERNELS(detail::PackKernels, pack_kernels)

namespace hesscope::detail {

const PackKernels& pack_kernels(InstructionSet set) { return HESSCOPE_KERNELS(pack_kernels, set); }

}  // namespace hesscope::detail
