// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <hesscope/analyzers/optimizer_preconditioner.h>
#include <hesscope/core/constants.h>
#include <hesscope/objective/gradient_blocks.h>

namespace hesscope {
namespace {

// 1 - beta^t without cancellation for beta near 1; 1 if t is not known.
double correction(double beta, const std::optional<std::int64_t>& t) {
  return t ? -std::expm1(static_cast<double>(*t) * std::log(beta)) : 1;
}

// A block's settings, completed by the given settings and PyTorch's defaults.
struct AdamSettings {
  AdamSettings(const OptimizerSettings& stored, const GivenSettings& given)
      : beta1(given.beta1.value_or(stored.beta1.value_or(kDefaultBeta1))),
        beta2(given.beta2.value_or(stored.beta2.value_or(kDefaultBeta2))),
        epsilon(given.epsilon.value_or(stored.epsilon.value_or(kDefaultEpsilon))) {}

  double beta1;
  double beta2;
  double epsilon;
};

struct BlockUpdate {
  std::optional<LinearStep> step;
  std::string obstacle = {};
};

// RAdam's rectification r; nothing while it does not adapt.
std::optional<double> rectification(double beta2, const std::optional<std::int64_t>& t) {
  if (!t) return 1;
  const auto steps = static_cast<double>(*t);
  const double limit = 2 / (1 - beta2) - 1;
  const double length = limit - 2 * steps * std::pow(beta2, steps) / correction(beta2, t);
  if (!(length > 5)) return std::nullopt;
  return std::sqrt((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length));
}

// theta <- theta - lr / denominator ((1 - mu) / (1 - product) g + mu_next / (1 - next product) m).
// Before PyTorch 2.0, the next product had one factor mu too many.
BlockUpdate nadam_update(double beta1,
                         const OptimizerSettings& settings,
                         const OptimizerState::Block& block) {
  if (!block.step || !block.momentum_product || !settings.momentum_decay) {
    return {.step = std::nullopt,
            .obstacle = "NAdam's step, mu_product or momentum_decay is missing"};
  }
  const auto momentum_at = [&](double t) {
    return beta1 * (1 - 0.5 * std::pow(0.96, t * *settings.momentum_decay));
  };
  const auto t = static_cast<double>(*block.step);
  const double mu = momentum_at(t);
  const double next = momentum_at(t + 1);
  const double product = *block.momentum_product;
  const double weight = next / (1 - product * next);
  const double older_weight = next / (1 - product * mu * next);
  if (!(std::abs(weight - older_weight) <= 1e-12 * weight)) {
    return {.step = std::nullopt,
            .obstacle = "versions of PyTorch differ in NAdam's momentum this early in training"};
  }
  return {.step = LinearStep{.momentum = beta1,
                             .intake = 1 - beta1,
                             .gradient_weight = (1 - mu) / (1 - product),
                             .momentum_weight = weight}};
}

using Segment = Eigen::Ref<Eigen::VectorXd>;
using ConstSegment = Eigen::Ref<const Eigen::VectorXd>;

// Fills in P of one block, without its learning rate.
BlockUpdate update_of(OptimizerKind kind,
                      const OptimizerSettings& stored,
                      const GivenSettings& given,
                      const OptimizerState::Block& block,
                      const ConstSegment& v,
                      const ConstSegment& mean,
                      Segment p) {
  const AdamSettings settings(stored, given);
  const double first = correction(settings.beta1, block.step);
  const double second = correction(settings.beta2, block.step);
  switch (kind) {
    case OptimizerKind::kAdam:
    case OptimizerKind::kAmsgrad:
      p = first * ((v / second).array().sqrt() + settings.epsilon);
      return {.step = averaged_step(settings.beta1)};
    case OptimizerKind::kRAdam:
      if (const auto r = rectification(settings.beta2, block.step)) {
        p = first * (v.array().sqrt() + settings.epsilon) / (*r * std::sqrt(second));
      } else {
        p.setConstant(first);
      }
      return {.step = averaged_step(settings.beta1)};
    case OptimizerKind::kNAdam:
      p = (v / second).array().sqrt() + settings.epsilon;
      return nadam_update(settings.beta1, stored, block);
    case OptimizerKind::kAdamax:
      p = first * v;
      return {.step = averaged_step(settings.beta1)};
    case OptimizerKind::kRmsprop: {
      if (stored.is_centered) {
        // Averages of equal gradients differ by rounding.
        const auto variance = v.array() - mean.array().square();
        p = (variance < 0).select(0.0, variance.sqrt()) + settings.epsilon;
      } else {
        p = v.array().sqrt() + settings.epsilon;
      }
      const double momentum = given.beta1.value_or(stored.momentum.value_or(0));
      return {.step = momentum > 0 ? heavy_ball_step(momentum) : gradient_descent_step()};
    }
    case OptimizerKind::kAdagrad: {
      const double decay = stored.learning_rate_decay.value_or(0);
      const double slowdown = block.step ? 1 + static_cast<double>(*block.step - 1) * decay : 1;
      p = (v.array().sqrt() + settings.epsilon) * slowdown;
      if (!block.step && decay != 0) return {.step = {}, .obstacle = "Adagrad's step is missing"};
      return {.step = gradient_descent_step()};
    }
    case OptimizerKind::kSgd:
      p.setOnes();
      if (!given.beta1 && !stored.momentum) {
        return {.step = {}, .obstacle = "SGD's momentum is not stored"};
      }
      return {.step = sgd_step(stored, given)};
    case OptimizerKind::kNone:
    case OptimizerKind::kUnknown:
      break;
  }
  p.setConstant(kNaN);
  return {.step = {}, .obstacle = "which optimiser it is is not known"};
}

}  // namespace

LinearStep sgd_step(const OptimizerSettings& settings, const GivenSettings& given) {
  const double momentum = given.beta1.value_or(settings.momentum.value_or(0));
  if (momentum == 0) return gradient_descent_step();
  return settings.is_nesterov ? nesterov_step(momentum)
                              : heavy_ball_step(momentum, settings.dampening.value_or(0));
}

Preconditioner optimizer_preconditioner(const OptimizerState& state,
                                        const GivenSettings& given,
                                        std::span<const ParameterBlock> blocks) {
  const Eigen::Index n = blocks.empty() ? 0 : blocks.back().offset + blocks.back().size;
  Preconditioner result{.diagonal = Eigen::VectorXd::Constant(n, kInfinity)};
  Eigen::VectorXd rates = Eigen::VectorXd::Zero(n);  // learning rates
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(n);
  const Eigen::VectorXd& v = state.has_second_moments() ? state.second_moments : none;
  const Eigen::VectorXd& mean = state.first_moments.size() > 0 ? state.first_moments : none;
  bool knows_rates = true;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const OptimizerState::Block& block = state.blocks[b];
    if (!block.group) continue;
    const OptimizerSettings& settings = state.groups[*block.group];
    const auto part = [&](const auto& all) {
      return all.segment(blocks[b].offset, blocks[b].size);
    };
    const BlockUpdate update = update_of(state.kind,
                                         settings,
                                         given,
                                         block,
                                         part(v),
                                         part(mean),
                                         result.diagonal.segment(blocks[b].offset, blocks[b].size));
    if (result.obstacle.empty()) {
      result.obstacle = settings.is_maximizing ? "it ascends (maximize)" : update.obstacle;
      const bool differs = result.step && update.step && *result.step != *update.step;
      if (differs) result.obstacle = "its groups differ in their momentum";
      result.step = update.step;
    }
    const std::optional<double> rate =
        given.learning_rate ? given.learning_rate : settings.learning_rate;
    knows_rates = knows_rates && rate.has_value();
    rates.segment(blocks[b].offset, blocks[b].size).setConstant(rate.value_or(0));
  }
  if (!result.obstacle.empty()) result.step.reset();
  if (!knows_rates || n == 0) return result;
  result.learning_rate = rates.maxCoeff();
  if (rates.minCoeff() < *result.learning_rate) {
    // Infinity if the rate is zero.
    result.diagonal.array() *= *result.learning_rate / rates.array();
  }
  return result;
}

Eigen::VectorXd stationary_second_moments(const Objective& objective,
                                          const Eigen::VectorXd& theta,
                                          const Eigen::VectorXd& gradient,
                                          Eigen::Index batch_size) {
  Eigen::VectorXd moments = gradient.array().square();
  const Eigen::Index num_samples = objective.num_samples();
  if (batch_size == 0 || num_samples < 2) return moments;
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(theta.size());
  for_gradient_blocks(objective,
                      theta,
                      objective.all_samples(),
                      [&](const Eigen::MatrixXd& gradients, SampleRange /*samples*/) {
                        sum += (gradients.colwise() - gradient).rowwise().squaredNorm();
                      });
  moments += sum / (static_cast<double>(num_samples - 1) * static_cast<double>(batch_size));
  return moments;
}

}  // namespace hesscope
