// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace hesscope::bench {

/// Seed for the data of all problems.
inline constexpr std::uint64_t kDataSeed = 1;

/// Uniform by splitmix64 (Steele, Lea & Flood 2014), normal by Box & Muller: the same numbers
/// wherever this is compiled, up to the last bits of log and cos.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// In (0, 1].
  double uniform() { return static_cast<double>((bits() >> 11) + 1) * 0x1p-53; }

  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

  /// 0 ... count - 1, by the remainder: not quite evenly, if count is large.
  std::uint64_t below(std::uint64_t count) { return bits() % count; }

 private:
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace hesscope::bench
