// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/optim/gradient_descent.h>
#include <hesscope/optim/internal/rule_settings.h>

namespace hesscope {
namespace {

class GradientDescent final : public UpdateRule {
 public:
  explicit GradientDescent(std::span<const ParameterBlock> blocks) : UpdateRule(blocks) {
    for (const char* name : {"momentum", "dampening", "weight_decay", "nesterov"}) {
      add_setting(name, 0);
    }
  }

 private:
  Eigen::VectorXd update(const ConstVectorRef& /*theta*/, const ConstVectorRef& gradient) override {
    return -gradient;
  }
};

struct SgdOptions {
  double momentum;
  double dampening;
  double weight_decay;
  bool is_nesterov;
};

class Sgd final : public UpdateRule {
 public:
  Sgd(const SgdOptions& options, std::span<const ParameterBlock> blocks)
      : UpdateRule(blocks), options_(options), buffer_(add_state("momentum_buffer")) {
    add_setting("momentum", options.momentum);
    add_setting("dampening", options.dampening);
    add_setting("weight_decay", options.weight_decay);
    add_setting("nesterov", options.is_nesterov ? 1 : 0);
  }

 private:
  Eigen::VectorXd update(const ConstVectorRef& theta, const ConstVectorRef& gradient) override {
    Eigen::VectorXd d = gradient;
    // Skipped at zero, so that non-finite parameters have no effect.
    if (options_.weight_decay != 0) d += options_.weight_decay * theta;
    // Without momentum there is nothing to dampen.
    if (num_steps() == 0 || options_.momentum == 0) {
      buffer_ = d;
    } else {
      buffer_ = options_.momentum * buffer_ + (1 - options_.dampening) * d;
    }
    if (options_.is_nesterov) return -(d + options_.momentum * buffer_);
    return -buffer_;
  }

  SgdOptions options_;
  Eigen::VectorXd& buffer_;
};

}  // namespace

UpdateRuleKind gd_kind() {
  return {.name = "gd",
          .summary = "gradient descent",
          .keys = {},
          .create = [](const Settings&, std::span<const ParameterBlock> blocks) {
            return std::make_unique<GradientDescent>(blocks);
          }};
}

UpdateRuleKind sgd_kind() {
  return {.name = "sgd",
          .summary = "gradient descent with momentum",
          .keys = {detail::decay_key("momentum", 0.9, "share of the last update that is kept"),
                   detail::decay_key("dampening", 0, "share of the gradient left out of momentum"),
                   detail::weight_key("weight-decay", 0, "times theta, added to the gradient"),
                   detail::flag_key("nesterov", false, "whether momentum is Nesterov's")},
          .create = [](const Settings& settings, std::span<const ParameterBlock> blocks) {
            const SgdOptions options = {.momentum = settings.real("momentum"),
                                        .dampening = settings.real("dampening"),
                                        .weight_decay = settings.real("weight-decay"),
                                        .is_nesterov = settings.boolean("nesterov")};
            if (options.is_nesterov && (options.momentum == 0 || options.dampening != 0)) {
              settings.refuse("nesterov", "'nesterov' needs a 'momentum' and no 'dampening'");
            }
            return std::make_unique<Sgd>(options, blocks);
          }};
}

}  // namespace hesscope
