// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <hesscope/core/error.h>
#include <hesscope/spectra/eigensystem.h>
#include <hesscope/spectra/internal/scaled_eigensystem.h>

namespace hesscope {

Eigensystem dense_eigensystem(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                              const EigensystemOptions& options,
                              const ProgressCallback& progress) {
  constexpr const char* kFunction = "dense_eigensystem";
  detail::require_eigensystem_size(kFunction, hessian);
  if (options.num_threads < 0) {
    throw PreconditionError("dense_eigensystem: num_threads must not be negative");
  }
  detail::ScaledEigensystem found = detail::scaled_eigensystem(
      hessian, detail::survey_symmetric(kFunction, hessian), options.num_threads, progress);
  Eigensystem result;
  result.status = found.status;
  if (found.status != Status::kOk) return result;
  result.eigenvalues = std::move(found.eigenvalues);
  result.eigenvectors = std::move(found.scaled.vectors);
  result.rounding_band = found.rounding_band;
  return result;
}

}  // namespace hesscope
