// SPDX-License-Identifier: BSD-3-Clause
//
// The Lanczos method of Spectra, made to say what it did. Private: lanczos.cc is the only file that
// sees Spectra.
#pragma once

#include <cstdint>

#include <Eigen/Core>

#include <hesscope/core/constants.h>
#include <hesscope/core/status.h>
#include <hesscope/spectra/operators.h>

namespace hesscope::detail {

enum class Ends { kSmallest, kLargest, kBoth };

struct LanczosOptions {
  Ends ends = Ends::kBoth;
  Eigen::Index num_per_end = 1;  // at most n / 4
  double tolerance = 0.0;        // of residuals, in the unit of H
  double shift = 0.0;            // positive, about 2 ||H||_2 or more; an estimate will do
  std::int64_t max_columns = 0;  // of operator applications
  Eigen::VectorXd start;         // n
  // An end is also done with where, after at least min_steps, its outermost Ritz value lies on the
  // inner side of these by four times its residual; by default nowhere.
  double lower = kInfinity;
  double upper = -kInfinity;
  Eigen::Index min_steps = 0;
  ProgressCallback progress = {};  // asked before each application of the operator
};

struct LanczosResult {
  Status status = Status::kFailed;  // kOk, kNonFinite, or kFailed: an end was not done with
  Eigen::VectorXd values;           // ascending: num_per_end of each end asked for
  Eigen::MatrixXd vectors;          // n x values.size()
  Eigen::Index num_steps = 0;       // dimension of the Krylov space before any restart
};

/// Eigenvalues at the ends of the spectrum of H by the Lanczos method on B = I + H / shift: with
/// Spectra's factorisation (full reorthogonalisation) one step at a time as long as the basis is
/// small, and beyond that with its restarted SymEigsSolver.
///
/// The Krylov spaces of B are those of H, and B is well away from singular. For H itself Spectra
/// would begin by a product with H, losing all of the null space, and would ask small eigenvalues
/// for a residual relative to themselves, which rounding forbids.
LanczosResult lanczos(const SymmetricOperator& h, const LanczosOptions& options);

}  // namespace hesscope::detail
