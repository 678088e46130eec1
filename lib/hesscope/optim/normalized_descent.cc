// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <functional>
#include <utility>

#include <hesscope/core/internal/norms.h>
#include <hesscope/optim/internal/rule_settings.h>
#include <hesscope/optim/internal/sign.h>
#include <hesscope/optim/normalized_descent.h>

namespace hesscope {
namespace {

using Normalize = std::function<Eigen::VectorXd(const Eigen::VectorXd&)>;

class NormalizedDescent final : public UpdateRule {
 public:
  NormalizedDescent(const Settings& settings,
                    Normalize normalize,
                    std::span<const ParameterBlock> blocks)
      : UpdateRule(blocks),
        normalize_(std::move(normalize)),
        momentum_(settings.real("momentum")),
        has_momentum_of_gradient_(settings.text("momentum-of") == "gradient"),
        buffer_(add_state("momentum_buffer")) {
    add_setting("momentum", momentum_);
  }

 private:
  Eigen::VectorXd update(const ConstVectorRef& /*theta*/, const ConstVectorRef& gradient) override {
    if (has_momentum_of_gradient_) {
      buffer_ = momentum_ * buffer_ + gradient;
      return -normalize_(buffer_);
    }
    buffer_ = momentum_ * buffer_ + normalize_(gradient);
    return -buffer_;
  }

  Normalize normalize_;
  double momentum_;
  bool has_momentum_of_gradient_;
  Eigen::VectorXd& buffer_;
};

std::vector<SettingKey> keys_with(SettingKey key) {
  return {detail::decay_key("momentum", 0, "share of the memory that is kept"),
          {.name = "momentum-of",
           .meaning = "what momentum sums: gradients before, or directions after normalisation",
           .choices = {"gradient", "direction"},
           .fallback = SettingValue(std::string("gradient"))},
          std::move(key)};
}

// N(0) is 0; non-finite values are not hidden.
Eigen::VectorXd divided(const Eigen::Ref<const Eigen::VectorXd>& g, double norm) {
  if (norm == 0) return Eigen::VectorXd::Zero(g.size());
  return g / norm;
}

}  // namespace

UpdateRuleKind sign_kind() {
  return {.name = "sign",
          .summary = "sign descent",
          .keys = keys_with({.name = "magnitude",
                             .meaning = "of every entry: 1, or the 1-norm of the gradient",
                             .choices = {"one", "l1"},
                             .fallback = SettingValue(std::string("one"))}),
          .create = [](const Settings& settings, std::span<const ParameterBlock> blocks) {
            const bool is_scaled = settings.text("magnitude") == "l1";
            const Normalize normalize = [is_scaled](const Eigen::VectorXd& g) -> Eigen::VectorXd {
              return (is_scaled ? g.lpNorm<1>() : 1.0) * detail::signs_of(g);
            };
            return std::make_unique<NormalizedDescent>(settings, normalize, blocks);
          }};
}

UpdateRuleKind normalized_kind() {
  return {.name = "normalized",
          .summary = "normalised gradient descent",
          .keys = keys_with({.name = "norm-of",
                             .meaning = "what is divided by its norm (block-rms: root mean square)",
                             .choices = {"all", "block", "block-rms"},
                             .fallback = SettingValue(std::string("all"))}),
          .create = [](const Settings& settings, std::span<const ParameterBlock> blocks) {
            const std::string scope = settings.text("norm-of");
            std::vector<ParameterBlock> parts(blocks.begin(), blocks.end());
            const Normalize normalize = [scope,
                                         parts](const Eigen::VectorXd& g) -> Eigen::VectorXd {
              if (scope == "all") return divided(g, detail::norm(g));
              Eigen::VectorXd all(g.size());
              for (const ParameterBlock& part : parts) {
                const auto block = g.segment(part.offset, part.size);
                const double size = scope == "block" ? 1.0 : static_cast<double>(part.size);
                all.segment(part.offset, part.size) =
                    divided(block, detail::norm(block) / std::sqrt(size));
              }
              return all;
            };
            return std::make_unique<NormalizedDescent>(settings, normalize, blocks);
          }};
}

}  // namespace hesscope
