// SPDX-License-Identifier: BSD-3-Clause
//
// Reproducible numbers for tests, in the form that the engine takes.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include <Eigen/Core>

#include <hesscope/autodiff/sweep.h>
#include <hesscope/core/constants.h>
#include <hesscope/objective/sample_table.h>

namespace hesscope::test {

using hesscope::kEpsilon;

template <typename T>
using Column = Eigen::Matrix<T, Eigen::Dynamic, 1>;

template <typename T>
using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

/// Uniform in (-1, 1): splitmix64.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}

  double next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    z ^= z >> 31;
    return std::ldexp(static_cast<double>(z >> 11) + 0.5, -52) - 1.0;
  }

  SampleTable table(Eigen::Index rows, Eigen::Index cols) {
    SampleTable result(rows, cols);
    for (Eigen::Index i = 0; i < result.size(); ++i) result.data()[i] = next();
    return result;
  }

  Eigen::VectorXd vector(Eigen::Index size) { return table(size, 1); }

 private:
  std::uint64_t state_;
};

inline std::span<const double> span_of(const Eigen::VectorXd& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}

inline Records records_of(const SampleTable& samples) {
  return {samples.data(), samples.rows(), samples.cols()};
}

}  // namespace hesscope::test
