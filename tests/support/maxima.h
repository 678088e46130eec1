// SPDX-License-Identifier: BSD-3-Clause
//
// Maxima that keep a NaN. Eigen's maxCoeff(), minCoeff() and lpNorm<Eigen::Infinity>() pass over
// most of them, so that a wrong result would be within every tolerance. Signed maxima, and minima,
// are Eigen's with <Eigen::PropagateNaN>.
#pragma once

#include <cmath>
#include <limits>
#include <stdexcept>

#include <Eigen/Core>

namespace hesscope::test {

/// max |a_ij|. NaN, which is within no tolerance, if `a` has one or is empty.
inline double largest_magnitude(const Eigen::MatrixXd& a) {
  if (a.size() == 0) return std::numeric_limits<double>::quiet_NaN();
  return a.cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
}

/// max |a_ij - b_ij|. NaN if one of them has a NaN, both have the same infinity, or they are empty.
/// @throws std::invalid_argument if their shapes differ.
inline double largest_difference(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) {
    throw std::invalid_argument("largest_difference: of matrices of different shapes");
  }
  return largest_magnitude(a - b);
}

/// The larger number; NaN if one of them is, which std::max() may pass over.
inline double larger(double a, double b) { return a > b || std::isnan(a) ? a : b; }

/// The smaller number, likewise.
inline double smaller(double a, double b) { return a < b || std::isnan(a) ? a : b; }

}  // namespace hesscope::test
