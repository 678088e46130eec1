// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/executor.h>
#include <hesscope/core/progress.h>

namespace hesscope {
namespace {

TEST(Progress, ReportsToWhoeverListens) {
  detail::report({}, 0.5);
  double heard = 0;
  const ProgressCallback listen = [&](double fraction) {
    heard = fraction;
    return fraction < 0.75;
  };
  detail::report(listen, 0.5);
  EXPECT_EQ(heard, 0.5);
  EXPECT_THROW(detail::report(listen, 0.75), Interrupted);
}

TEST(Progress, OfAPartIsAPartOfTheWhole) {
  EXPECT_FALSE(detail::part_of({}, 0.25, 0.75));
  std::vector<double> heard;
  const ProgressCallback part = detail::part_of(
      [&](double fraction) {
        heard.push_back(fraction);
        return fraction < 0.7;
      },
      0.25,
      0.75);
  EXPECT_TRUE(part(0));
  EXPECT_TRUE(part(0.5));
  EXPECT_FALSE(part(1));
  EXPECT_EQ(heard, (std::vector<double>{0.25, 0.5, 0.75}));
}

TEST(Progress, IsCountedToExactlyOneByAnyNumberOfThreads) {
  constexpr Eigen::Index kWork = 30011;
  for (const int threads : {1, 4}) {
    double last = 0;
    int calls = 0;
    const ProgressCallback listen = [&](double fraction) {
      EXPECT_GE(fraction, last);
      last = fraction;
      ++calls;
      return true;
    };
    detail::ProgressCounter counter(listen, 3 * kWork);
    Executor(threads).for_each(kWork, [&](Eigen::Index) { counter.advance(3); });
    EXPECT_EQ(last, 1.0);
    EXPECT_LT(calls, 5000);
    EXPECT_GT(calls, 1000);
  }
}

TEST(Progress, StopsTheCountingWhereTheCallbackSaysSo) {
  int calls = 0;
  const ProgressCallback stop_at_third = [&](double) { return ++calls < 3; };
  detail::ProgressCounter counter(stop_at_third, 10);
  counter.advance();
  counter.advance();
  EXPECT_THROW(counter.advance(), Interrupted);
  EXPECT_THROW(counter.advance(), Interrupted);
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace hesscope
