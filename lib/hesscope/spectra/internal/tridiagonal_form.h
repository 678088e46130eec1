// SPDX-License-Identifier: BSD-3-Clause
//
// T = Q^T H Q of a symmetric matrix, and the transformation from T back to eigenvectors of H.
//
// One n x n copy of H serves two purposes. Its lower triangle is overwritten by the reduction; its
// strict upper triangle, which LAPACK does not touch, and the restored diagonal still hold the
// matrix from which residuals are computed.
#pragma once

#include <optional>

#include <Eigen/Core>

#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/spectra/internal/band_reduction.h>

namespace hesscope::detail {

class TridiagonalForm {
 public:
  /// From this n on, two stages are used (band_reduction.h).
  static constexpr Eigen::Index kTwoStages = 2500;

  TridiagonalForm() = default;

  /// @param h  both triangles, finite, with entries neither near overflow nor underflow.
  explicit TridiagonalForm(Eigen::MatrixXd h,
                           Eigen::Index two_stages = kTwoStages,
                           const ProgressCallback& progress = {});

  const Tridiagonal& t() const { return t_; }

  /// Unit eigenvector of H, or nothing if inverse iteration failed.
  /// @param value  the eigenvalue of this rank to rounding.
  std::optional<Eigen::VectorXd> eigenvector(Eigen::Index rank, double value);

  /// ||H v - value v||_2.
  double residual(const Eigen::VectorXd& v, double value) const;

  /// H in its lower triangle, the rest zero.
  Eigen::MatrixXd lower_triangle() const;

 private:
  Eigen::MatrixXd matrix_;  // reflectors of Q below the diagonal, H on and above it
  Tridiagonal t_;
  Eigen::VectorXd tau_;                // for one stage
  std::optional<BandReduction> band_;  // for two stages
};

}  // namespace hesscope::detail
