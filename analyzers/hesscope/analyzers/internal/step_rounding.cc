// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>

#include <hesscope/analyzers/internal/stability_settings.h>
#include <hesscope/analyzers/internal/step_rounding.h>
#include <hesscope/analyzers/linear_step.h>
#include <hesscope/analyzers/optimizer_preconditioner.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/internal/norms.h>

namespace hesscope::detail {
namespace {

// If the updates are -learning_rate g.
std::optional<double> rate_of_descent(const OptimizerState& optimizer, const GivenSettings& given) {
  const bool is_plain = optimizer.kind == OptimizerKind::kSgd &&
                        std::ranges::all_of(optimizer.groups, [&](const auto& group) {
                          return sgd_step(group, given) == gradient_descent_step();
                        });
  if (!is_plain) return std::nullopt;
  return effective(optimizer.groups, &OptimizerSettings::learning_rate, given.learning_rate).value;
}

}  // namespace

double rounding_between(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return 2 * kEpsilon * std::max(norm(a), norm(b));
}

bool is_step_rounding(PointAnalysis& point, const Eigen::VectorXd& next) {
  const double length = norm(next - point.theta());
  if (length <= rounding_between(point.theta(), next)) return true;
  const std::optional<double> rate = rate_of_descent(point.optimizer(), point.given_settings());
  if (!rate) return false;
  const double gradient =
      std::max(point.gradient_rounding(), norm(point.gradient_by_rounded_parameters()));
  return length <= *rate * gradient;
}

Eigen::VectorXd step_without_rounding(PointAnalysis& point, const Eigen::VectorXd& next) {
  if (is_step_rounding(point, next)) return Eigen::VectorXd::Zero(next.size());
  return next - point.theta();
}

}  // namespace hesscope::detail
