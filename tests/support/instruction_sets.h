// SPDX-License-Identifier: BSD-3-Clause
//
// Tests that run for each instruction set of this processor.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include <hesscope/simd/instruction_set.h>

namespace hesscope::test {

inline auto instruction_sets() {
  const auto sets = supported_instruction_sets();
  return testing::ValuesIn(sets.begin(), sets.end());
}

/// The suffix of a test's name, which may not contain hyphens.
inline std::string instruction_set_name(const testing::TestParamInfo<InstructionSet>& info) {
  std::string name(name_of(info.param));
  std::erase(name, '-');
  return name;
}

}  // namespace hesscope::test
