// SPDX-License-Identifier: BSD-3-Clause
//
// An update rule of one's own, by the name that experiment files would have for it.
#include <iostream>
#include <memory>
#include <span>

#include <hesscope/hesscope.h>
#include <hesscope/optim/batches.h>
#include <hesscope/optim/training_run.h>
#include <hesscope/optim/update_rule_registry.h>

// [kind]
// The sign of an average of gradients (J. Bernstein et al., 2018: Signum).
class Signum final : public hesscope::UpdateRule {
 public:
  Signum(double beta, std::span<const hesscope::ParameterBlock> blocks)
      : UpdateRule(blocks), beta_(beta), average_(add_state("exp_avg")) {
    add_setting("beta", beta);
  }

 private:
  // For a learning rate of 1.
  Eigen::VectorXd update(const ConstVectorRef&, const ConstVectorRef& gradient) override {
    average_ = beta_ * average_ + (1 - beta_) * gradient;
    return -average_.cwiseSign();
  }

  double beta_;
  Eigen::VectorXd& average_;  // zeros at first; checkpoints keep it
};

hesscope::UpdateRuleKind signum() {
  return {.name = "signum",
          .summary = "the sign of an average of gradients",
          .keys = {{.name = "beta",
                    .type = hesscope::SettingKey::Type::kReal,
                    .meaning = "decay of the average",
                    .fallback = hesscope::SettingValue(0.9)}},
          .create = [](const hesscope::Settings& settings, auto blocks) {
            return std::make_unique<Signum>(settings.real("beta"), blocks);
          }};
}

// [kind]

int main() {
  // [register]
  hesscope::register_update_rule_kind(signum());

  const auto bowl = [](const auto& x, Eigen::Index) {
    return 2.0 * x(0) * x(0) + 0.5 * x(1) * x(1);
  };
  const auto objective = hesscope::make_objective(bowl, 2, 1);
  const auto batches = hesscope::full_batches(objective);
  hesscope::TrainingRun run(
      *batches,
      hesscope::make_update_rule("signum", {{"beta", 0.5}}, objective.parameter_blocks()),
      Eigen::Vector2d(3, 4),
      {.learning_rate = 0.5});
  while (run.num_steps() < 4 && run.step() == hesscope::Status::kOk) {
  }
  std::cout << run.parameters().transpose() << '\n';  // 1 2
  // [register]
  return run.parameters() == Eigen::Vector2d(1, 2) ? 0 : 1;
}
