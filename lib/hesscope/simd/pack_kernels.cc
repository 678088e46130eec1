// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/simd/pack_kernels.h>

namespace hesscope {

namespace baseline {
const detail::PackKernels& pack_kernels();
}  // namespace baseline

#ifdef HESSCOPE_X86_KERNELS
namespace avx2 {
const detail::PackKernels& pack_kernels();
}  // namespace avx2

namespace avx512 {
const detail::PackKernels& pack_kernels();
}  // namespace avx512
#endif

namespace detail {

const PackKernels& pack_kernels(InstructionSet set) {
  require_supported(set);
#ifdef HESSCOPE_X86_KERNELS
  if (set == InstructionSet::kAvx512) return avx512::pack_kernels();
  if (set == InstructionSet::kAvx2) return avx2::pack_kernels();
#endif
  return baseline::pack_kernels();
}

}  // namespace detail
}  // namespace hesscope
