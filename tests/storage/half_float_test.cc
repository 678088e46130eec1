// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/storage/internal/half_float.h>

namespace hesscope::io {
namespace {

TEST(HalfFloat, IsTheSameThereAndBack) {
  for (unsigned i = 0; i < 0x10000U; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const double half = half_to_double(bits);
    if (!std::isnan(half)) {
      ASSERT_EQ(half_bits(half), bits);
    }
    const double bfloat16 = bfloat16_to_double(bits);
    if (!std::isnan(bfloat16)) {
      ASSERT_EQ(bfloat16_bits(bfloat16), bits);
    }
  }
  EXPECT_TRUE(std::isnan(half_to_double(half_bits(kNaN))));
  EXPECT_TRUE(std::isnan(bfloat16_to_double(bfloat16_bits(kNaN))));
}

TEST(HalfFloat, ShowsWhatItDoesNotHold) {
  for (const double value : {1.0 + 0x1p-11, 70'000.0, 0x1p-25, 1e300}) {
    EXPECT_NE(half_to_double(half_bits(value)), value);
  }
  for (const double value : {1.0 + 0x1p-8, 1e-300, 1e300}) {
    EXPECT_NE(bfloat16_to_double(bfloat16_bits(value)), value);
  }
}

}  // namespace
}  // namespace hesscope::io
