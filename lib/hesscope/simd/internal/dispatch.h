// SPDX-License-Identifier: BSD-3-Clause
//
// Access to kernels that are compiled once for each instruction set (cmake/HesscopeKernels.cmake).
// Each set has a function of the same name that returns the set's table of kernels:
//
//   HESSCOPE_DECLARE_KERNELS(detail::SweepKernels, sweep_kernels)          // in their header
//   const detail::SweepKernels& k = HESSCOPE_KERNELS(sweep_kernels, set);  // who uses them
#pragma once

#include <hesscope/simd/instruction_set.h>

// NOLINTBEGIN(cppcoreguidelines-macro-usage): namespaces cannot be template arguments

#define HESSCOPE_DECLARE_KERNELS(Table, function) \
  namespace hesscope::baseline {                  \
  const Table& function();                        \
  }                                               \
  namespace hesscope::avx2 {                      \
  const Table& function();                        \
  }                                               \
  namespace hesscope::avx512 {                    \
  const Table& function();                        \
  }

// A set that was not compiled gets the kernels of one that was; no processor then supports it.
#ifdef HESSCOPE_AVX2_KERNELS
#define HESSCOPE_AVX2_NAMESPACE avx2
#else
#define HESSCOPE_AVX2_NAMESPACE baseline
#endif
#ifdef HESSCOPE_AVX512_KERNELS
#define HESSCOPE_AVX512_NAMESPACE avx512
#else
#define HESSCOPE_AVX512_NAMESPACE baseline
#endif

// Throws PreconditionError unless the set is supported.
#define HESSCOPE_KERNELS(function, set)                                     \
  ::hesscope::detail::choose(set,                                           \
                             ::hesscope::baseline::function,                \
                             ::hesscope::HESSCOPE_AVX2_NAMESPACE::function, \
                             ::hesscope::HESSCOPE_AVX512_NAMESPACE::function)

// NOLINTEND(cppcoreguidelines-macro-usage)

namespace hesscope::detail {

template <typename Table>
const Table& choose(InstructionSet set,
                    const Table& (*baseline)(),
                    const Table& (*avx2)(),
                    const Table& (*avx512)()) {
  require_supported(set);
  switch (set) {
    case InstructionSet::kAvx512:
      return avx512();
    case InstructionSet::kAvx2:
      return avx2();
    case InstructionSet::kBaseline:
      break;
  }
  return baseline();
}

}  // namespace hesscope::detail
