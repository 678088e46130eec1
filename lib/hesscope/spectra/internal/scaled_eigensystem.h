// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by dense_eigensystem and the dense variant of extreme_eigenpairs.
#pragma once

#include <string_view>

#include <Eigen/Core>

#include <hesscope/core/progress.h>
#include <hesscope/core/status.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/spectra/internal/scaled_matrix.h>

namespace hesscope::detail {

/// The eigensystem of H, computed from 2^-exponent H, whose numbers are near 1.
struct ScaledEigensystem {
  Status status = Status::kNotComputed;
  int exponent = 0;
  EigenDecomposition scaled;    // of 2^-exponent H; empty without kOk
  Eigen::VectorXd eigenvalues;  // of H, ascending; empty without kOk
  double rounding_band = 0;     // (n + 10) eps ||H||_2
};

/// @throws PreconditionError naming the function if the matrix is not square or has more rows than
///         max_eigensystem_dimension().
void require_eigensystem_size(std::string_view function,
                              const Eigen::Ref<const Eigen::MatrixXd>& hessian);

/// All eigenvalues and eigenvectors of the matrix with the lower triangle of `hessian`, which must
/// satisfy require_eigensystem_size().
/// @param survey  of `hessian`.
/// @return status as from dense_eigensystem().
ScaledEigensystem scaled_eigensystem(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                                     const Survey& survey,
                                     int num_threads,
                                     const ProgressCallback& progress);

}  // namespace hesscope::detail
