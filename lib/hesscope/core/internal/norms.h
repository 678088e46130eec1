// SPDX-License-Identifier: BSD-3-Clause
//
// Sums of squares, norms and dot products of doubles of any size, from subnormal to the largest.
//
// A plain sum of squares loses digits below a norm of 1e-154, vanishes below 1e-162 and overflows
// above 1e154, so that a gradient of 1e-235 looks stationary. Here a plain sum is used in the safe
// range; outside, sums are scaled by a power of two (squares) or accumulated as Wide (products).
// Ordinary results thus have the bits of Eigen's norm() and dot(), and the others those that they
// would have if the range of double were unlimited. Eigen's stableNorm() has the same range, but
// may return zero for a vector of zeros and NaN.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Core>

#include <hesscope/core/internal/wide.h>

namespace hesscope::detail {

/// Whether a sum of products has lost nothing to the range of double. Underflow costs at most
/// 2^-1075 per term, less than the rounding of a sum of 2^-900 for any number of terms.
inline bool is_in_safe_range(double sum) {
  constexpr double kLeast = 0x1p-900;
  return std::abs(sum) >= kLeast && std::abs(sum) <= std::numeric_limits<double>::max();
}

/// The exponent of 2 for finite x != 0, clamped so that 2^-exponent is also a normal double:
/// 2^-exponent x is in [2^-52, 4).
inline int exponent_of(double x) { return std::clamp(std::ilogb(x), -1022, 1022); }

/// For sum_of_squares(), dot() and sum() where the plain sum is not safe.
Wide scaled_sum_of_squares(const Eigen::Ref<const Eigen::MatrixXd>& x);
Wide wide_dot(const Eigen::Ref<const Eigen::VectorXd>& a,
              const Eigen::Ref<const Eigen::VectorXd>& b);
Wide wide_sum(const Eigen::Ref<const Eigen::VectorXd>& x);

/// sum x_ij^2, relative error below (number of entries) eps. NaN if x has one, else infinite if x
/// has an infinity, else finite; 0 for x = 0 only.
template <typename Derived>
Wide sum_of_squares(const Eigen::MatrixBase<Derived>& x) {
  const double plain = x.squaredNorm();
  return is_in_safe_range(plain) ? Wide(plain) : scaled_sum_of_squares(x);
}

/// The Euclidean norm of a vector, the Frobenius norm of a matrix, with the error of
/// sum_of_squares(). Infinite only if the norm itself is above the largest double, or x is.
template <typename Derived>
double norm(const Eigen::MatrixBase<Derived>& x) {
  const double plain = x.squaredNorm();
  return is_in_safe_range(plain) ? std::sqrt(plain) : sqrt(scaled_sum_of_squares(x)).value();
}

/// The norm of each column.
Eigen::VectorXd column_norms(const Eigen::Ref<const Eigen::MatrixXd>& x);

/// x / |x| for a finite x of any size; x itself if it is 0.
Eigen::VectorXd normalized(const Eigen::Ref<const Eigen::VectorXd>& x);

/// sum a_i b_i with an error below (number of entries) eps sum |a_i b_i|, even if single products
/// are out of range.
template <typename A, typename B>
Wide dot(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  const double plain = a.dot(b);
  return is_in_safe_range(plain) ? Wide(plain) : wide_dot(a, b);
}

/// sum x_i; partial sums cannot overflow.
template <typename Derived>
double sum(const Eigen::MatrixBase<Derived>& x) {
  const double plain = x.sum();
  return std::isfinite(plain) ? plain : wide_sum(x).value();
}

}  // namespace hesscope::detail
