// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <vector>

#include <hesscope/core/error.h>
#include <hesscope/simd/instruction_set.h>

namespace hesscope {
namespace {

std::vector<InstructionSet> detect() {
  std::vector<InstructionSet> sets = {InstructionSet::kBaseline};
#ifdef HESSCOPE_AVX2_KERNELS
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    sets.push_back(InstructionSet::kAvx2);
#ifdef HESSCOPE_AVX512_KERNELS
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
      sets.push_back(InstructionSet::kAvx512);
    }
#endif
  }
#endif
  return sets;
}

}  // namespace

std::string_view name_of(InstructionSet set) {
  switch (set) {
    case InstructionSet::kBaseline:
      return "baseline";
    case InstructionSet::kAvx2:
      return "AVX2";
    case InstructionSet::kAvx512:
      return "AVX-512";
  }
  throw PreconditionError("name_of: unknown instruction set");
}

std::span<const InstructionSet> supported_instruction_sets() {
  static const std::vector<InstructionSet> sets = detect();
  return sets;
}

InstructionSet best_instruction_set() { return supported_instruction_sets().back(); }

void require_supported(InstructionSet set) {
  const auto sets = supported_instruction_sets();
  if (std::find(sets.begin(), sets.end(), set) == sets.end()) {
    throw PreconditionError("the instruction set " + std::string(name_of(set)) +
                            " is not supported by this processor or this build");
  }
}

}  // namespace hesscope
