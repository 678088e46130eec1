// SPDX-License-Identifier: BSD-3-Clause
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/spectra/spectrum.h>

#include "spectra/same_bits.h"
#include "support/matrices.h"

namespace hesscope {
namespace {

TEST(DenseSpectrum, GivesTheSameBitsToConcurrentCallers) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 4;
  const Eigen::MatrixXd h = test::random_symmetric(257, 41);
  const Spectrum alone = dense_spectrum(h);
  ASSERT_EQ(alone.status, Status::kOk);
  std::vector<std::vector<Spectrum>> results(kThreads);
  {
    std::vector<std::jthread> threads;
    for (std::vector<Spectrum>& mine : results) {
      threads.emplace_back([&h, &mine] {
        for (int call = 0; call < kCalls; ++call) mine.push_back(dense_spectrum(h));
      });
    }
  }
  for (const std::vector<Spectrum>& mine : results) {
    ASSERT_EQ(mine.size(), static_cast<std::size_t>(kCalls));
    for (const Spectrum& spectrum : mine) test::expect_same_bits(spectrum, alone);
  }
}

// Vector instructions treat the head and tail of an array apart, so alignment could change sums.
TEST(DenseSpectrum, GivesTheSameBitsWhereverTheMatrixLies) {
  const Eigen::Index n = 101;
  const Eigen::MatrixXd h = test::random_symmetric(n, 43);
  const Spectrum reference = dense_spectrum(h);
  for (Eigen::Index shift = 0; shift < 8; ++shift) {
    std::vector<double> storage(static_cast<std::size_t>(n * n + shift));
    Eigen::Map<Eigen::MatrixXd> shifted(storage.data() + shift, n, n);
    shifted = h;
    test::expect_same_bits(dense_spectrum(shifted), reference);
  }
}

}  // namespace
}  // namespace hesscope
