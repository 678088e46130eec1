// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/core/progress.h>
#include <hesscope/core/stop_request.h>

#include "support/refusal.h"

namespace hesscope {
namespace {

TEST(Executor, VisitsEveryIndexOnce) {
  for (const int threads : {0, 1, 2, 4}) {
    const Executor executor(threads);
    std::vector<std::atomic<int>> visits(1000);
    executor.for_each(1000, [&](Eigen::Index i) { ++visits[static_cast<std::size_t>(i)]; });
    for (const auto& count : visits) EXPECT_EQ(count, 1);
    executor.for_each(0, [&](Eigen::Index) { FAIL() << "there is nothing to visit"; });
  }
}

// Addends of very different magnitude: another order of additions gives other bits.
void rough_block(Eigen::Index b, std::span<double> partial) {
  for (std::size_t i = 0; i < partial.size(); ++i) {
    const double t = static_cast<double>(b) + 0.1 * static_cast<double>(i);
    partial[i] += std::sin(t) * std::exp(20 * std::cos(3 * t));
  }
}

TEST(Executor, SumsToTheSameBitsForAnyNumberOfThreads) {
  for (const Eigen::Index blocks : {1, 2, 3, 7, 64, 1001}) {
    std::vector<double> expected(3);
    Executor(1).sum(blocks, expected, rough_block);
    for (const int threads : {2, 3, 4, 8}) {
      const Executor executor(threads);
      for (int repetition = 0; repetition < 10; ++repetition) {
        std::vector<double> actual(3, -1.0);
        executor.sum(blocks, actual, rough_block);
        EXPECT_EQ(actual, expected) << blocks << " blocks, " << threads << " threads";
      }
    }
  }
}

TEST(Executor, SumsInsideAnIterationAndFromSeveralThreads) {
  const Executor executor(3);
  std::vector<double> expected(2);
  executor.sum(100, expected, rough_block);
  std::atomic<int> num_wrong = 0;
  const auto nested = [&] {
    executor.for_each(20, [&](Eigen::Index) {
      std::vector<double> actual(2);
      executor.sum(100, actual, rough_block);
      if (actual != expected) ++num_wrong;
    });
  };
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 3; ++i) callers.emplace_back(nested);
  }
  EXPECT_EQ(num_wrong, 0);
}

TEST(Executor, RethrowsWhatABodyThrows) {
  for (const int threads : {1, 4}) {
    const Executor executor(threads);
    const auto fails = [](Eigen::Index i) {
      if (i == 17) throw std::domain_error("seventeen");
    };
    EXPECT_THROW(executor.for_each(100, fails), std::domain_error);
    std::vector<double> result(1);
    EXPECT_THROW(executor.sum(100, result, [&](Eigen::Index b, std::span<double>) { fails(b); }),
                 std::domain_error);
    executor.sum(3, result, [](Eigen::Index b, std::span<double> p) { p[0] += double(b); });
    EXPECT_EQ(result[0], 3);
  }
}

TEST(Executor, RefusesANegativeNumberOfThreads) {
  EXPECT_THROW(Executor(-1), PreconditionError);
  EXPECT_EQ(Executor(3).num_threads(), 3);
  EXPECT_GE(Executor(0).num_threads(), 1);
}

TEST(Executor, SumsNoLessThanNothing) {
  const Executor executor(2);
  double sum = 5;
  const auto add = [](Eigen::Index, std::span<double> partial) { partial[0] += 1; };
  executor.sum(0, {&sum, 1}, add);
  EXPECT_EQ(sum, 0);
  test::expect_refusal(
      [&] {
        executor.sum(-1, {&sum, 1}, add);
      },
      "Executor::sum: expected a function and at least 0 blocks, got -1 blocks");
  test::expect_refusal([&] { executor.sum(1, {&sum, 1}, {}); }, "got no function and 1 blocks");
}

TEST(Executor, VisitsNoLessThanNothing) {
  const Executor executor(2);
  test::expect_refusal([&] { executor.for_each(-1, [](Eigen::Index) {}); },
                       "Executor::for_each: expected a function and at least 0 times, got -1");
  test::expect_refusal([&] { executor.for_each(1, {}); }, "got no function and 1 times");
}

TEST(Executor, BeginsNothingOnceAStopIsRequested) {
  for (const int threads : {1, 3}) {
    std::stop_source source;
    const Executor executor(threads, stop_requested_by(source.get_token()));
    std::vector<double> sum(2);
    executor.sum(100, sum, rough_block);  // not yet
    std::atomic<int> begun = 0;
    EXPECT_THROW(executor.for_each(100'000,
                                   [&](Eigen::Index) {
                                     if (++begun == 10) source.request_stop();
                                   }),
                 Interrupted);
    EXPECT_GE(begun, 10);
    EXPECT_LT(begun, 10 + 2 * threads);  // those under way ended
    EXPECT_THROW(executor.for_each(1, [&](Eigen::Index) { ++begun; }), Interrupted);
    EXPECT_THROW(executor.sum(100, sum, rough_block), Interrupted);
    executor.for_each(0, [&](Eigen::Index) { ++begun; });  // nothing to begin
    EXPECT_LT(begun, 10 + 2 * threads);
  }
}

}  // namespace
}  // namespace hesscope
