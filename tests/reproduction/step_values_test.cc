// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/reproduction/internal/step_values.h>

namespace hesscope::detail {
namespace {

TEST(StepValues, AreAveragedOverWindowsOfSteps) {
  StepValues values{.seeds = {0, 1},
                    .steps = {0, 10, 20, 25, 40},
                    .num_runs = 1,
                    .values = {1, 2, 4, 8, 16, -1, kNaN, -4, -8, -16}};
  average_over(20, values);
  const std::vector<double> expected = {1, 1.5, 3, 14 / 3.0, 12, -1, kNaN, kNaN, kNaN, -12};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(values.values[i] == expected[i] ||
                (std::isnan(values.values[i]) && std::isnan(expected[i])))
        << i << ": " << values.values[i];
  }
}

// A window no longer than the distance of the looks leaves them as they are.
TEST(StepValues, OfAShortWindowAreTheirOwn) {
  StepValues values{.seeds = {0}, .steps = {0, 10, 20}, .num_runs = 1, .values = {1, 2, 4}};
  average_over(10, values);
  EXPECT_EQ(values.values, (std::vector<double>{1, 2, 4}));
}

}  // namespace
}  // namespace hesscope::detail
