// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/core/memory.h>

namespace hesscope {
namespace {

TEST(Memory, IsThatOfSomeMachine) {
  const double limit = memory_limit_bytes();
  EXPECT_TRUE(std::isfinite(limit));
  EXPECT_GT(limit, 16e6);
}

TEST(Memory, IsRefusedBeyondWhatThereIs) {
  const double limit = memory_limit_bytes();
  EXPECT_NO_THROW(require_memory(limit, "a table"));
  try {
    require_memory(1e18, "p.toml: a table");
    ADD_FAILURE() << "not refused";
  } catch (const OutputError& error) {
    EXPECT_THAT(error.what(),
                testing::StartsWith("p.toml: a table: needs 1e+09 GB of memory, and there are "));
  }
  EXPECT_THROW(require_memory(limit * 1.001, ""), OutputError);
}

}  // namespace
}  // namespace hesscope
