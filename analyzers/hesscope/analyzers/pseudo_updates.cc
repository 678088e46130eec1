// SPDX-License-Identifier: BSD-3-Clause
#include <any>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <hesscope/analyzers/internal/rounded_parameters.h>
#include <hesscope/analyzers/pseudo_updates.h>
#include <hesscope/noise/gradient_covariance.h>
#include <hesscope/optim/update_rule_registry.h>

namespace hesscope {
namespace {

// In the order of kPseudoRuleNames.
std::vector<std::unique_ptr<UpdateRule>> make_rules(std::span<const ParameterBlock> blocks) {
  std::vector<std::unique_ptr<UpdateRule>> rules;
  rules.push_back(make_update_rule("gd", {}, blocks));
  rules.push_back(make_update_rule("sgd", {{"momentum", 0.9}}, blocks));
  rules.push_back(
      make_update_rule("adam", {{"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-8}}, blocks));
  rules.push_back(make_update_rule("lion", {{"beta1", 0.9}, {"beta2", 0.99}}, blocks));
  rules.push_back(make_update_rule("sign", {}, blocks));
  return rules;
}

// The rules after some checkpoints of a trajectory.
class Followers {
 public:
  explicit Followers(std::span<const ParameterBlock> blocks) : rules_(make_rules(blocks)) {}

  std::size_t num_seen() const { return num_seen_; }

  // Entries of the gradient that may be rounding alone are 0: those up to `of_samples`, rounding of
  // the samples' gradients, and those that rounding of the parameters explains.
  Eigen::MatrixXd step(const Objective& objective,
                       const Eigen::VectorXd& theta,
                       const Eigen::VectorXd& gradient_with_rounding,
                       double of_samples) {
    ++num_seen_;
    const Eigen::ArrayXd rounding =
        detail::estimated_by_rounded_parameters(objective, theta).array().max(of_samples);
    const Eigen::VectorXd gradient =
        (gradient_with_rounding.array().abs() <= rounding).select(0.0, gradient_with_rounding);
    Eigen::MatrixXd updates(theta.size(), static_cast<Eigen::Index>(rules_.size()));
    for (std::size_t r = 0; r < rules_.size(); ++r) {
      updates.col(static_cast<Eigen::Index>(r)) = rules_[r]->step(theta, gradient);
    }
    return updates;
  }

  // Takes in a checkpoint, unless PointAnalysis::status() would be non_finite.
  void pass(const Objective& objective, const Eigen::VectorXd& theta) {
    if (theta.allFinite()) {
      const auto [value, gradient] = objective.value_and_gradient(theta, objective.all_samples());
      if (std::isfinite(value) && gradient.allFinite()) {
        const GradientCovariance covariance =
            gradient_covariance(objective, theta, {.with_matrix = false});
        step(objective, theta, gradient, rounding_of_gradients(covariance));
        return;
      }
    }
    ++num_seen_;
  }

 private:
  std::vector<std::unique_ptr<UpdateRule>> rules_;
  std::size_t num_seen_ = 0;
};

}  // namespace

Eigen::MatrixXd pseudo_updates(PointAnalysis& point) {
  Trajectory* trajectory = point.trajectory();
  const auto blocks = point.objective().parameter_blocks();
  const auto step = [&](Followers& followers) {
    return followers.step(
        point.objective(), point.theta(), point.gradient(), point.gradient_rounding());
  };
  if (trajectory == nullptr) {
    Followers followers(blocks);
    return step(followers);
  }
  std::any& notes = trajectory->notes("pseudo_updates");
  auto* kept = std::any_cast<std::shared_ptr<Followers>>(&notes);
  if (kept == nullptr || (*kept)->num_seen() > point.index()) {
    notes = std::make_shared<Followers>(blocks);
    kept = std::any_cast<std::shared_ptr<Followers>>(&notes);
  }
  Followers& followers = **kept;
  while (followers.num_seen() < point.index()) {
    const std::size_t i = followers.num_seen();
    const std::shared_ptr<const Objective> own = trajectory->objective_at(i);
    followers.pass(own != nullptr ? *own : point.objective(), trajectory->point(i));
  }
  return step(followers);
}

}  // namespace hesscope
