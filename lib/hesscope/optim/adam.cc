// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/optim/adam.h>
#include <hesscope/optim/internal/adam_direction.h>
#include <hesscope/optim/internal/rule_settings.h>

namespace hesscope {
namespace {

struct AdamOptions {
  detail::AdamDecays decays;
  double weight_decay;
  bool is_decoupled;
};

class Adam final : public UpdateRule {
 public:
  Adam(const AdamOptions& options, std::span<const ParameterBlock> blocks)
      : UpdateRule(blocks),
        options_(options),
        exp_avg_(add_state("exp_avg")),
        exp_avg_sq_(add_state("exp_avg_sq")) {
    add_setting("betas.0", options.decays.beta1);
    add_setting("betas.1", options.decays.beta2);
    add_setting("eps", options.decays.epsilon);
    add_setting("weight_decay", options.weight_decay);
    add_setting("amsgrad", 0);
    add_setting("decoupled_weight_decay", options.is_decoupled ? 1 : 0);
  }

 private:
  Eigen::VectorXd update(const ConstVectorRef& theta, const ConstVectorRef& gradient) override {
    const auto& [decays, weight_decay, is_decoupled] = options_;
    const auto t = static_cast<double>(num_steps() + 1);
    Eigen::VectorXd d = gradient;
    if (!is_decoupled && weight_decay != 0) d += weight_decay * theta;
    Eigen::VectorXd u = detail::adam_direction(decays, t, d, exp_avg_, exp_avg_sq_);
    if (is_decoupled && weight_decay != 0) u -= weight_decay * theta;
    return u;
  }

  AdamOptions options_;
  Eigen::VectorXd& exp_avg_;
  Eigen::VectorXd& exp_avg_sq_;
};

UpdateRuleKind kind(const std::string& name,
                    const std::string& summary,
                    const SettingKey& weight_decay,
                    bool is_decoupled) {
  return {
      .name = name,
      .summary = summary,
      .keys = {detail::decay_key("beta1", 0.9, "decay of the average of gradients"),
               detail::decay_key("beta2", 0.999, "decay of the average of squared gradients"),
               detail::weight_key("epsilon", 1e-8, "added to the root of the latter"),
               weight_decay},
      .create = [is_decoupled](const Settings& settings, std::span<const ParameterBlock> blocks) {
        const AdamOptions options = {.decays = {.beta1 = settings.real("beta1"),
                                                .beta2 = settings.real("beta2"),
                                                .epsilon = settings.real("epsilon")},
                                     .weight_decay = settings.real("weight-decay"),
                                     .is_decoupled = is_decoupled};
        return std::make_unique<Adam>(options, blocks);
      }};
}

}  // namespace

UpdateRuleKind adam_kind() {
  return kind("adam",
              "Adam",
              detail::weight_key("weight-decay", 0, "times theta, added to the gradient"),
              false);
}

UpdateRuleKind adamw_kind() {
  return kind("adamw",
              "Adam with decoupled weight decay",
              detail::weight_key("weight-decay", 0.01, "times theta, subtracted from the update"),
              true);
}

}  // namespace hesscope
