// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>

#include <hesscope/analyzers/internal/unexplained_inverse.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/spectra/counts.h>

namespace hesscope::detail {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

// A curvature that changes by half of its value or more cannot be told from zero.
bool is_undetermined(double curvature, double change) {
  return std::abs(curvature) <= 2 * std::abs(change);
}

}  // namespace

UnexplainedInverse::UnexplainedInverse(PointAnalysis& point,
                                       const UnexplainedHessian& hessian,
                                       const ProgressCallback& progress,
                                       const VectorXd& rest)
    : hessian_(&hessian),
      system_(dense_eigensystem(hessian.matrix, {}, part_of(progress, 0, 0.7))),
      status_(system_.status) {
  if (status_ != Status::kOk) return;
  const Objective& objective = point.objective();
  const VectorXd& theta = point.theta();
  const VectorXd& lambda = system_.eigenvalues;
  const MatrixXd& v = system_.eigenvectors;
  // P (H(theta + by) - H(theta)) P.
  const auto changed = [&](const VectorXd& by, double begin, double end) {
    MatrixXd h =
        objective.hessian(theta + by, objective.all_samples(), part_of(progress, begin, end));
    h -= *point.hessian();
    if (!h.allFinite()) status_ = Status::kNonFinite;
    return hessian.project_both(h);
  };
  const auto along_eigenvectors = [&](const MatrixXd& change) {
    return v.cwiseProduct(change * v).colwise().sum().transpose().eval();
  };
  const Eigen::ArrayXd sizes = lambda.array().abs();
  const Eigen::Array<bool, Eigen::Dynamic, 1> is_small =
      sizes <= std::sqrt(kEpsilon) * hessian.norm;
  const VectorXd of_gradient = v.transpose() * hessian.project(point.gradient());
  step_ = hessian.project(v * is_small.select(0.0, -of_gradient.array() / lambda.array()).matrix());
  change_ = changed(step_, 0.7, 0.85);
  const VectorXd changes = along_eigenvectors(change_);
  const Index n = lambda.size();
  VectorXd hidden_changes = VectorXd::Zero(n);
  const auto is_in_q = (is_small && sizes > counting_band(n, hessian.norm)).eval();
  if (is_in_q.any()) {
    const double rounding = kEpsilon * hessian.norm * detail::norm(theta);
    const Eigen::ArrayXd signs = (of_gradient.array() < 0).select(-1.0, Eigen::ArrayXd::Ones(n));
    const Eigen::ArrayXd far = -(of_gradient.array() + rounding * signs) / lambda.array();
    const VectorXd q = hessian.project(v * is_in_q.select(far, 0.0).matrix());
    hidden_changes = is_small.select(along_eigenvectors(changed(q, 0.85, 1)), 0.0);
  }
  VectorXd changes_by_rest = VectorXd::Zero(n);
  if (rest.size() > 0) {
    for (const double part : {0.5, 1.0}) {
      const VectorXd by_part = along_eigenvectors(changed(hessian.project(part * rest), 1, 1));
      changes_by_rest = changes_by_rest.cwiseMax(by_part.cwiseAbs());
    }
  }
  if (status_ != Status::kOk) return;
  num_zero_ = num_negative_ = 0;
  for (Index k = 0; k < n; ++k) {
    if (sizes[k] <= system_.rounding_band || is_undetermined(lambda[k], changes[k]) ||
        is_undetermined(lambda[k], hidden_changes[k]) ||
        is_undetermined(lambda[k], changes_by_rest[k])) {
      ++num_zero_;
      largest_zero_ = std::max(largest_zero_, sizes[k]);
    } else if (lambda[k] < 0) {
      ++num_negative_;
    }
  }
}

MatrixXd UnexplainedInverse::times(const Eigen::Ref<const MatrixXd>& b) const {
  MatrixXd along = system_.eigenvectors.transpose() * hessian_->project(b);
  along.array().colwise() /= system_.eigenvalues.array();
  return hessian_->project(system_.eigenvectors * along);
}

NewtonStep newton_step_without_sample(const Objective& objective,
                                      const VectorXd& theta,
                                      const UnexplainedHessian& hessian,
                                      const UnexplainedInverse& inverse,
                                      Index i,
                                      const Eigen::Ref<const VectorXd>& gradient) {
  const double weight = 1 / static_cast<double>(objective.num_samples());
  const SampleRange sample = {i, i + 1};
  const MatrixXd own = objective.hessian(theta, sample, {});
  const MatrixXd of_others = hessian.matrix - weight * hessian.project_both(own);
  const ShiftedFactorization others(of_others, 0.0);
  if (others.status() != Status::kOk) return {.status = others.status()};
  if (others.inertia().num_at > 0) return {.status = Status::kUndefinedSingular};
  if (others.inertia().num_below != inverse.num_negative()) {
    return {.status = Status::kUndefinedOtherInertia};
  }
  const std::optional<VectorXd> step = others.solve(hessian.project(weight * gradient).col(0));
  if (!step) return {.status = Status::kUndefinedSingular};
  NewtonStep found{.status = Status::kOk, .change = hessian.project(*step)};
  const VectorXd u = detail::normalized(found.change);
  const MatrixXd change = objective.hessian(theta + inverse.step(), sample, {}) - own;
  const double changed = u.dot(inverse.change() * u) - weight * u.dot(change * u);
  if (u.squaredNorm() > 0 && is_undetermined(u.dot(of_others * u), changed)) {
    return {.status = Status::kUndefinedSingular};
  }
  return found;
}

}  // namespace hesscope::detail
