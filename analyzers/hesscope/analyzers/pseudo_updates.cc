// SPDX-License-Identifier: BSD-3-Clause
#include <any>
#include <cmath>
#include <memory>
#include <vector>

#include <hesscope/analyzers/pseudo_updates.h>
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
  explicit Followers(const Objective& objective)
      : objective_(objective), rules_(make_rules(objective.parameter_blocks())) {}

  std::size_t num_seen() const { return num_seen_; }

  Eigen::MatrixXd step(const Eigen::VectorXd& theta, const Eigen::VectorXd& gradient) {
    ++num_seen_;
    Eigen::MatrixXd updates(theta.size(), static_cast<Eigen::Index>(rules_.size()));
    for (std::size_t r = 0; r < rules_.size(); ++r) {
      updates.col(static_cast<Eigen::Index>(r)) = rules_[r]->step(theta, gradient);
    }
    return updates;
  }

  // Sees a checkpoint, unless what PointAnalysis::status() calls non_finite.
  void pass(const Eigen::VectorXd& theta) {
    if (theta.allFinite()) {
      const auto [value, gradient] = objective_.value_and_gradient(theta, objective_.all_samples());
      if (std::isfinite(value) && gradient.allFinite()) {
        step(theta, gradient);
        return;
      }
    }
    ++num_seen_;
  }

 private:
  const Objective& objective_;
  std::vector<std::unique_ptr<UpdateRule>> rules_;
  std::size_t num_seen_ = 0;
};

}  // namespace

Eigen::MatrixXd pseudo_updates(PointAnalysis& point) {
  Trajectory* trajectory = point.trajectory();
  if (trajectory == nullptr) {
    return Followers(point.objective()).step(point.theta(), point.gradient());
  }
  std::any& notes = trajectory->notes("pseudo_updates");
  auto* kept = std::any_cast<std::shared_ptr<Followers>>(&notes);
  if (kept == nullptr || (*kept)->num_seen() > point.index()) {
    notes = std::make_shared<Followers>(point.objective());
    kept = std::any_cast<std::shared_ptr<Followers>>(&notes);
  }
  Followers& followers = **kept;
  while (followers.num_seen() < point.index()) {
    followers.pass(trajectory->point(followers.num_seen()));
  }
  return followers.step(point.theta(), point.gradient());
}

}  // namespace hesscope
