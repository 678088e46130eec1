// SPDX-License-Identifier: BSD-3-Clause
//
// Counts how many eigenvalues of a symmetric tridiagonal matrix T lie below a number, and computes
// eigenvalues from this by bisection. Ranks count from 0.
#pragma once

#include <cstdint>

#include <Eigen/Core>

#include <hesscope/linalg/internal/lapack.h>

namespace hesscope::detail {

/// @source J. Demmel, I. Dhillon & H. Ren (1995), ETNA 3, 116-149.
class SturmCounts {
 public:
  struct Interval {
    double lower;
    double upper;

    /// The reported value of the eigenvalue in it: exactly zero if this is possible.
    double value() const { return lower <= 0.0 && upper >= 0.0 ? 0.0 : 0.5 * (lower + upper); }
  };

  SturmCounts() = default;

  /// @param t  finite, with entries neither near overflow nor underflow. @cost about 120 counts.
  explicit SturmCounts(const Tridiagonal& t);

  /// ||T||_2 to rounding.
  double norm() const { return norm_; }

  /// Number of eigenvalues below the shift. Monotone in it, to the last bit. @cost n divisions.
  std::int64_t num_below(double shift) const;

  /// An interval of width eps ||T||_2 around the eigenvalue of a rank, by bisection. @cost about 60
  /// counts.
  Interval enclose(Eigen::Index rank) const;

  /// The eigenvalues of ranks [begin, end), ascending: enclose(rank).value() for each,
  /// independently of the others. @cost at most about 60 counts each; counts needed by neighbours
  /// are made once.
  Eigen::VectorXd eigenvalues(Eigen::Index begin, Eigen::Index end) const;

 private:
  template <int kShifts>
  void count(const double* shifts, std::int64_t* counts) const;

  Interval enclose(Eigen::Index rank, Interval within, double width) const;
  Interval widened(Interval found) const;

  Eigen::VectorXd diagonal_;              // n
  Eigen::VectorXd squared_off_diagonal_;  // n - 1
  double smallest_pivot_ = 0.0;
  Interval range_ = {0.0, 0.0};  // contains all eigenvalues
  double norm_ = 0.0;
};

}  // namespace hesscope::detail
