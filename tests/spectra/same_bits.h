// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>

#include <gtest/gtest.h>

#include <hesscope/spectra/spectrum.h>

namespace hesscope::test {

/// Compares every floating-point number by its bits: -0 is not 0 and NaN is itself.
inline void expect_same_bits(const Spectrum& a, const Spectrum& b) {
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.proof, b.proof);
  ASSERT_EQ(a.eigenvalues.size(), b.eigenvalues.size());
  Eigen::Index num_different = 0;
  for (Eigen::Index k = 0; k < a.eigenvalues.size(); ++k) {
    if (bits(a.eigenvalues[k]) != bits(b.eigenvalues[k])) ++num_different;
  }
  EXPECT_EQ(num_different, 0) << "eigenvalues differ";
  for (const auto rank : {&Spectrum::smallest, &Spectrum::median, &Spectrum::largest}) {
    EXPECT_EQ(bits((a.*rank).value), bits((b.*rank).value));
    EXPECT_EQ(bits((a.*rank).residual), bits((b.*rank).residual));
  }
  EXPECT_EQ(bits(a.rounding_band), bits(b.rounding_band));
}

}  // namespace hesscope::test
