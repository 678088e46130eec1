// SPDX-License-Identifier: BSD-3-Clause
//
// Preparation of a symmetric matrix for LAPACK.
#pragma once

#include <cstdint>

#include <Eigen/Core>

namespace hesscope::detail {

struct Survey {
  bool is_finite = true;
  double largest_magnitude = 0.0;
  std::int64_t num_dead = 0;  // rows that are identically zero

  // The largest entry of 2^-exponent H is in [1, 2): nothing overflows, nothing relevant
  // underflows, and the results for H and 2^k H have the same digits. 0 for the zero matrix.
  int exponent() const;
};

/// Reads the lower triangle only.
Survey survey(const Eigen::Ref<const Eigen::MatrixXd>& hessian);

/// The survey of a matrix that must be symmetric: its upper triangle must be finite, too, and equal
/// to the lower one to (n + 10) eps times the largest magnitude, which is within the rounding band
/// of its eigenvalues.
/// @throws PreconditionError that says where the largest asymmetry is, and how large, if it is
///         larger.
/// @cost   reads the matrix twice.
Survey survey_symmetric(const char* function, const Eigen::Ref<const Eigen::MatrixXd>& hessian);

/// Both triangles of 2^-exponent H; reads the lower triangle only.
Eigen::MatrixXd scaled_copy(const Eigen::Ref<const Eigen::MatrixXd>& hessian, int exponent);

/// 2^exponent values.
Eigen::VectorXd scaled_back(const Eigen::VectorXd& values, int exponent);

/// 2^exponent x rounded down, or up: for subnormal results, ldexp() rounds.
double scaled_down(double x, int exponent);
double scaled_up(double x, int exponent);

/// (n + 10) eps norm; see Spectrum::rounding_band.
double rounding_band(Eigen::Index n, double norm);

/// @throws PreconditionError unless `hessian` is square with 1 to max_lapack_dimension() rows.
void require_symmetric_shape(const char* function,
                             const Eigen::Ref<const Eigen::MatrixXd>& hessian);

}  // namespace hesscope::detail
