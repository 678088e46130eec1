// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include <hesscope/analyzers/internal/unexplained_inverse.h>
#include <hesscope/spectra/counts.h>

namespace hesscope::detail {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

UnexplainedInverse::UnexplainedInverse(const UnexplainedHessian& hessian,
                                       const ProgressCallback& progress)
    : hessian_(&hessian), system_(dense_eigensystem(hessian.matrix, {}, progress)) {
  if (system_.status != Status::kOk) return;
  const auto within = system_.eigenvalues.array().abs() <= system_.rounding_band;
  num_zero_ = within.count();
  num_negative_ = (system_.eigenvalues.array() < -system_.rounding_band).count();
}

MatrixXd UnexplainedInverse::times(const Eigen::Ref<const MatrixXd>& b) const {
  MatrixXd along = system_.eigenvectors.transpose() * hessian_->project(b);
  along.array().colwise() /= system_.eigenvalues.array();
  return hessian_->project(system_.eigenvectors * along);
}

NewtonStep newton_step_without_sample(const Objective& objective,
                                      const VectorXd& theta,
                                      const UnexplainedHessian& hessian,
                                      Index num_negative,
                                      Index i,
                                      const Eigen::Ref<const VectorXd>& gradient) {
  const double weight = 1 / static_cast<double>(objective.num_samples());
  const ShiftedFactorization others(
      hessian.matrix - weight * hessian.project_both(objective.hessian(theta, {i, i + 1}, {})),
      0.0);
  if (others.status() != Status::kOk) return {.status = others.status()};
  if (others.inertia().num_at > 0) return {.status = Status::kUndefinedSingular};
  if (others.inertia().num_below != num_negative) {
    return {.status = Status::kUndefinedOtherInertia};
  }
  const std::optional<VectorXd> step = others.solve(hessian.project(weight * gradient).col(0));
  if (!step) return {.status = Status::kUndefinedSingular};
  return {.status = Status::kOk, .change = hessian.project(*step)};
}

}  // namespace hesscope::detail
