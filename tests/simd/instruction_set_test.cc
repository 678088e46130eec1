// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/simd/instruction_set.h>

namespace hesscope {
namespace {

TEST(InstructionSet, SupportedOnesAscendFromTheBaseline) {
  const auto sets = supported_instruction_sets();
  ASSERT_FALSE(sets.empty());
  EXPECT_EQ(sets.front(), InstructionSet::kBaseline);
  EXPECT_TRUE(std::is_sorted(sets.begin(), sets.end()));
  EXPECT_EQ(best_instruction_set(), sets.back());
}

TEST(InstructionSet, OthersAreRefusedByName) {
  for (const InstructionSet set :
       {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    EXPECT_FALSE(name_of(set).empty());
    if (set <= best_instruction_set()) {
      EXPECT_NO_THROW(require_supported(set));
    } else {
      EXPECT_THROW(require_supported(set), PreconditionError);
    }
  }
}

}  // namespace
}  // namespace hesscope
