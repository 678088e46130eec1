// SPDX-License-Identifier: BSD-3-Clause
//
// Selects vector instructions. Kernels are compiled once for each set (cmake/HesscopeKernels.cmake)
// and selected at run time. Everything else is compiled for the baseline only, so that a library
// built here runs on every processor of the architecture, and its headers mean the same everywhere.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hesscope {

/// Ascending: each includes the previous ones.
enum class InstructionSet : std::uint8_t {
  kBaseline,  ///< what every processor of this architecture has (x86-64: SSE2)
  kAvx2,      ///< AVX2 and FMA
  kAvx512,    ///< AVX-512 F, DQ, VL, BW
};

std::string_view name_of(InstructionSet set);

/// The sets that both this processor and this build support, ascending; never empty.
std::span<const InstructionSet> supported_instruction_sets();

/// The last of supported_instruction_sets().
InstructionSet best_instruction_set();

/// @throws PreconditionError unless this processor and this build support `set`.
void require_supported(InstructionSet set);

}  // namespace hesscope
