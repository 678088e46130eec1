// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/optim/internal/rule_settings.h>
#include <hesscope/optim/internal/sign.h>
#include <hesscope/optim/lion.h>

namespace hesscope {
namespace {

struct LionOptions {
  double beta1;
  double beta2;
  double weight_decay;
};

class Lion final : public UpdateRule {
 public:
  Lion(const LionOptions& options, std::span<const ParameterBlock> blocks)
      : UpdateRule(blocks), options_(options), exp_avg_(add_state("exp_avg")) {
    add_setting("betas.0", options.beta1);
    add_setting("betas.1", options.beta2);
    add_setting("weight_decay", options.weight_decay);
  }

 private:
  Eigen::VectorXd update(const ConstVectorRef& theta, const ConstVectorRef& gradient) override {
    const auto& [beta1, beta2, weight_decay] = options_;
    const Eigen::VectorXd interpolated = beta1 * exp_avg_ + (1 - beta1) * gradient;
    Eigen::VectorXd u = -detail::signs_of(interpolated);
    if (weight_decay != 0) u -= weight_decay * theta;
    exp_avg_ = beta2 * exp_avg_ + (1 - beta2) * gradient;
    return u;
  }

  LionOptions options_;
  Eigen::VectorXd& exp_avg_;
};

}  // namespace

UpdateRuleKind lion_kind() {
  return {
      .name = "lion",
      .summary = "the sign of an average of gradients",
      .keys = {detail::decay_key("beta1", 0.9, "weight of the average in the update"),
               detail::decay_key("beta2", 0.99, "decay of the average of gradients"),
               detail::weight_key("weight-decay", 0, "times theta, subtracted from the update")},
      .create = [](const Settings& settings, std::span<const ParameterBlock> blocks) {
        const LionOptions options = {.beta1 = settings.real("beta1"),
                                     .beta2 = settings.real("beta2"),
                                     .weight_decay = settings.real("weight-decay")};
        return std::make_unique<Lion>(options, blocks);
      }};
}

}  // namespace hesscope
