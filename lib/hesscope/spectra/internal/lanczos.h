// SPDX-License-Identifier: BSD-3-Clause
//
// Spectra's Lanczos method, extended to report its work. Private: lanczos.cc is the only file that
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
  double shift = 0.0;            // positive, about 2 ||H||_2 or more; an estimate suffices
  std::int64_t max_columns = 0;  // of operator applications
  Eigen::VectorXd start;         // n
  // An end is also finished if, after at least min_steps, its outermost Ritz value is on the inner
  // side of these bounds by four times its residual; by default never.
  double lower = kInfinity;
  double upper = -kInfinity;
  Eigen::Index min_steps = 0;
  ProgressCallback progress = {};  // called before each application of the operator
};

struct LanczosResult {
  Status status = Status::kFailed;  // kOk, kNonFinite, or kFailed: an end was not finished
  Eigen::VectorXd values;           // ascending: num_per_end for each requested end
  Eigen::MatrixXd vectors;          // n x values.size()
  Eigen::Index num_steps = 0;       // dimension of the Krylov space before any restart
};

/// Eigenvalues at the ends of the spectrum of H by the Lanczos method on B = I + H / shift: with
/// Spectra's factorisation (full reorthogonalisation) one step at a time as long as the basis is
/// small, and beyond that with its restarted SymEigsSolver.
///
/// The Krylov spaces of B are those of H, and B is far from singular. With H itself, Spectra would
/// begin with a product with H, losing the whole null space, and would require residuals of small
/// eigenvalues relative to themselves, which rounding makes impossible.
LanczosResult lanczos(const SymmetricOperator& h, const LanczosOptions& options);

}  // namespace hesscope::detail
