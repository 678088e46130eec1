// SPDX-License-Identifier: BSD-3-Clause
//
// Which vector instructions to use. Kernels are compiled once for each set
// (cmake/HesscopeKernels.cmake) and chosen when the program runs; nothing outside them is compiled
// for more than the baseline, so that a library built here runs on every processor of the
// architecture and its headers mean the same everywhere.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hesscope {

/// Ascending: each includes the ones before.
enum class InstructionSet : std::uint8_t {
  kBaseline,  ///< what every processor of this architecture has (x86-64: SSE2)
  kAvx2,      ///< AVX2 and FMA
  kAvx512,    ///< AVX-512 F, DQ, VL, BW
};

std::string_view name_of(InstructionSet set);

/// Those that this processor has and this library was built with, ascending; never empty.
std::span<const InstructionSet> supported_instruction_sets();

/// The last of them.
InstructionSet best_instruction_set();

/// @throws PreconditionError unless this processor and this build support `set`.
void require_supported(InstructionSet set);

}  // namespace hesscope
