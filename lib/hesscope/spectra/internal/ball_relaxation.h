// SPDX-License-Identifier: BSD-3-Clause
//
// max tr(V H V^T) over V with k rows: the semidefinite relaxation of max d^T H d on a product of
// balls, in the form of Burer and Monteiro. k = 1 is the problem itself; k of about the root of
// twice the number of constraints gives the full relaxation.
#pragma once

#include <vector>

#include <Eigen/Core>

#include <hesscope/core/progress.h>

namespace hesscope::detail {

/// Entries offset + i + rows j of a vector as a rows x cols matrix, whose singular values must be
/// at most 1. rows <= cols; 1 x 1 is an interval, 1 x c a Euclidean ball.
struct Ball {
  Eigen::Index offset = 0;
  Eigen::Index rows = 1;
  Eigen::Index cols = 1;

  Eigen::Index size() const { return rows * cols; }
};

/// n intervals.
std::vector<Ball> unit_intervals(Eigen::Index n);

class BallRelaxation {
 public:
  /// @param h      n x n, symmetric; must outlive this.
  /// @param balls  tile the n entries.
  BallRelaxation(const Eigen::MatrixXd& h, std::vector<Ball> balls);

  /// The number of rows of V for which the relaxation has only global maxima, but at most 24.
  Eigen::Index rank() const;

  /// Sum of the balls' rows: tr Y increases by this for each multiple of the identity added to Y.
  double num_rows() const { return num_rows_; }

  /// V / ||V_b||_2 ball by ball; zeros are kept.
  void normalize(Eigen::MatrixXd& v) const;

  /// Increases tr(V H V^T) ball by ball, and never decreases it: each ball's part is replaced by
  /// the best one given the others (intervals, Euclidean balls), or by the maximum of a lower bound
  /// that touches at the present point (matrices). Ends after max_sweeps, or when a sweep gains
  /// less than tolerance times the value.
  /// @param v  k x n, in the balls: columns (j, i) of a ball, and all rows, are rows of its matrix.
  /// @return the value.
  double ascend(Eigen::MatrixXd& v,
                int max_sweeps,
                double tolerance,
                const ProgressCallback& progress = {}) const;

  double value(const Eigen::MatrixXd& v) const;

  struct Bound {
    double upper = 0;  ///< NaN if an eigenvalue was not found
    double rounding = 0;
    Eigen::VectorXd traces;  ///< of Y_b, one number per ball
  };

  /// From any V: Y_b = ((V H)_b V_b^T)_sym, without its negative eigenvalues, plus the multiple of
  /// the identity that makes Y - H semidefinite. Tight if V is the maximum.
  Bound upper_bound(const Eigen::MatrixXd& v) const;

 private:
  // For the diagonal block of a ball that is not an interval; NaN if not found.
  struct Own {
    double smallest = 0;     // eigenvalue, for a ball of matrices
    Eigen::VectorXd values;  // all eigenvalues, for a Euclidean ball
    Eigen::MatrixXd vectors;
  };

  double ascend_interval(Eigen::Index j, Eigen::MatrixXd& v) const;
  void ascend_euclidean(const Ball& ball, const Own& own, Eigen::MatrixXd& v) const;
  void ascend_matrix(const Ball& ball, const Own& own, Eigen::MatrixXd& v) const;

  const Eigen::MatrixXd* h_;
  std::vector<Ball> balls_;
  std::vector<Own> own_;  // for balls that are not intervals
  double num_rows_ = 0;
};

}  // namespace hesscope::detail
