// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/spectra/internal/back_transformation.h>
#include <hesscope/spectra/internal/scaled_eigensystem.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// Below this size, dsyevd is used: there are hardly two panels to share.
constexpr Index kThreaded = 256;

// Shares of the time for the first two of the three parts.
constexpr double kReduced = 0.6;
constexpr double kDecomposed = 0.8;

std::optional<EigenDecomposition> eigensystem_on_threads(MatrixXd a,
                                                         int num_threads,
                                                         const ProgressCallback& progress) {
  const Reduction reduction = tridiagonalize(a, part_of(progress, 0.0, kReduced));
  std::optional<EigenDecomposition> result = eigensystem(reduction.t);
  if (!result) return result;
  apply_q(a,
          reduction.tau,
          result->vectors,
          Executor(num_threads),
          part_of(progress, kDecomposed, 1.0));
  return result;
}

}  // namespace

void require_eigensystem_size(std::string_view function,
                              const Eigen::Ref<const MatrixXd>& hessian) {
  if (hessian.rows() == hessian.cols() && hessian.rows() <= max_eigensystem_dimension()) return;
  throw PreconditionError(fmt::format("{}: hessian must be square with at most {} rows, got {}x{}",
                                      function,
                                      max_eigensystem_dimension(),
                                      hessian.rows(),
                                      hessian.cols()));
}

ScaledEigensystem scaled_eigensystem(const Eigen::Ref<const MatrixXd>& hessian,
                                     const Survey& survey,
                                     int num_threads,
                                     const ProgressCallback& progress) {
  const Index n = hessian.rows();
  ScaledEigensystem result;
  if (!survey.is_finite) {
    result.status = Status::kNonFinite;
    return result;
  }
  if (n == 0) {
    result.status = Status::kOk;
    return result;
  }
  const SingleThreadedBlas one_thread;
  result.exponent = survey.exponent();
  MatrixXd scaled = scaled_copy(hessian, result.exponent);
  std::optional<EigenDecomposition> all =
      n < kThreaded ? eigensystem(std::move(scaled))
                    : eigensystem_on_threads(std::move(scaled), num_threads, progress);
  if (!all || !all->values.allFinite() || !all->vectors.allFinite()) {
    result.status = Status::kFailed;
    return result;
  }
  Eigen::VectorXd eigenvalues = scaled_back(all->values, result.exponent);
  if (!eigenvalues.allFinite()) {
    result.status = Status::kNonFinite;
    return result;
  }
  result.status = Status::kOk;
  result.rounding_band =
      scaled_up(rounding_band(n, all->values.cwiseAbs().maxCoeff()), result.exponent);
  result.scaled = std::move(*all);
  result.eigenvalues = std::move(eigenvalues);
  return result;
}

}  // namespace hesscope::detail
