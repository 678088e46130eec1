// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/spectra/eigensystem.h>
#include <hesscope/spectra/internal/back_transformation.h>
#include <hesscope/spectra/internal/scaled_matrix.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// Below, dsyevd: there are hardly two panels to share.
constexpr Index kThreaded = 256;

// Shares of the time, of the first two of its three parts.
constexpr double kReduced = 0.6;
constexpr double kDecomposed = 0.8;

std::optional<detail::Eigensystem> eigensystem_on_threads(MatrixXd a,
                                                          int num_threads,
                                                          const ProgressCallback& progress) {
  const detail::Reduction reduction =
      detail::tridiagonalize(a, detail::part_of(progress, 0.0, kReduced));
  std::optional<detail::Eigensystem> result = detail::eigensystem(reduction.t);
  if (!result) return result;
  detail::apply_q(a,
                  reduction.tau,
                  result->vectors,
                  Executor(num_threads),
                  detail::part_of(progress, kDecomposed, 1.0));
  return result;
}

}  // namespace

Eigensystem dense_eigensystem(const Eigen::Ref<const MatrixXd>& hessian,
                              const EigensystemOptions& options,
                              const ProgressCallback& progress) {
  const Index n = hessian.rows();
  if (hessian.cols() != n || n > detail::max_eigensystem_dimension()) {
    throw PreconditionError(
        fmt::format("dense_eigensystem: hessian must be square with at most {} rows, got {}x{}",
                    detail::max_eigensystem_dimension(),
                    n,
                    hessian.cols()));
  }
  if (options.num_threads < 0) {
    throw PreconditionError("dense_eigensystem: num_threads must not be negative");
  }
  Eigensystem result;
  const detail::Survey found = detail::survey_symmetric("dense_eigensystem", hessian);
  if (!found.is_finite) {
    result.status = Status::kNonFinite;
    return result;
  }
  if (n == 0) {
    result.status = Status::kOk;
    result.rounding_band = 0.0;
    return result;
  }

  const detail::SingleThreadedBlas one_thread;
  const int exponent = found.exponent();
  MatrixXd scaled = detail::scaled_copy(hessian, exponent);
  std::optional<detail::Eigensystem> all =
      n < kThreaded ? detail::eigensystem(std::move(scaled))
                    : eigensystem_on_threads(std::move(scaled), options.num_threads, progress);
  if (!all || !all->values.allFinite() || !all->vectors.allFinite()) {
    result.status = Status::kFailed;
    return result;
  }
  Eigen::VectorXd eigenvalues = detail::scaled_back(all->values, exponent);
  if (!eigenvalues.allFinite()) {
    result.status = Status::kNonFinite;
    return result;
  }
  const double scaled_band = detail::rounding_band(n, all->values.cwiseAbs().maxCoeff());
  result.rounding_band = std::ldexp(scaled_band, exponent);
  result.eigenvalues = std::move(eigenvalues);
  result.eigenvectors = std::move(all->vectors);
  result.status = Status::kOk;
  return result;
}

}  // namespace hesscope
