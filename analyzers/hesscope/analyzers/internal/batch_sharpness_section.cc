// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <utility>

#include <fmt/format.h>

#include <hesscope/analyzers/internal/batch_sharpness_section.h>
#include <hesscope/analyzers/internal/batch_sizes.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/linear_step.h>
#include <hesscope/analyzers/option_error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/core/internal/wide.h>
#include <hesscope/noise/batch_sharpness.h>
#include <hesscope/objective/gradient_blocks.h>

namespace hesscope::detail {

using Eigen::Index;

BatchSharpnessSection::BatchSharpnessSection(Group& declaring, std::vector<Index> batch_sizes)
    : batch_sizes_(std::move(batch_sizes)),
      sharpness_(declaring.add(
          {.name = "batch_sharpness",
           .dimensions = {"batch_size"},
           .long_name = "batch sharpness",
           .definition =
               std::string(
                   "E[g_B^T H_B g_B] / E|g_B|^2 where g_B and H_B are the gradient and the "
                   "Hessian of a minibatch of that many samples drawn without replacement; "
                   "exact over all minibatches, from moments of the samples' gradients and "
                   "of their Hessians' products with them; undefined where E|g_B|^2 is zero "
                   "within the rounding of the samples' gradients, or at most (16 eps ||H "
                   "diag(theta)||_F)^2, the rounding of the parameters; ") +
               kMinibatchLossInWords,
           .references = {papers::kAndreyev},
           .undefined = {Status::kUndefinedZeroDenominator},
           .headline = 7})),
      ratio_(declaring.add(
          {.name = "batch_sharpness_ratio",
           .dimensions = {"batch_size"},
           .long_name = "batch sharpness over gd_threshold",
           .definition = "batch_sharpness / gd_threshold, and not computed where that is not; "
                         "stochastic gradient descent hovers at 1",
           .references = {papers::kAndreyev},
           .undefined = {Status::kUndefinedZeroDenominator},
           .headline = 8})) {}

Dimension BatchSharpnessSection::dimension(const Objective& objective) const {
  for (const Index size : batch_sizes_) {
    if (size > objective.num_samples()) {
      throw OptionError("batch-sharpness",
                        fmt::format("minibatches of {} samples cannot be had from {} samples; "
                                    "choose smaller ones",
                                    size,
                                    objective.num_samples()));
    }
  }
  return {.name = "batch_size",
          .size = static_cast<std::int64_t>(batch_sizes_.size()),
          .numbers = {batch_sizes_.begin(), batch_sizes_.end()},
          .definition = "samples of a minibatch, as asked for"};
}

void BatchSharpnessSection::add_cost(const Objective& objective, Analyzer::Cost& cost) const {
  const auto n = static_cast<double>(objective.num_parameters());
  const auto num_samples = static_cast<double>(objective.num_samples());
  constexpr double kProductInGradients = 6;  // the samples' own Hessians times their gradients
  cost.asks_hessian = true;
  cost.sample_gradients += 3 + kProductInGradients;
  cost.products += num_samples + 5;
  cost.matrix_operations += num_samples * n * n;
  cost.numbers += 3 * static_cast<double>(gradient_block_size(objective)) * n;
}

void BatchSharpnessSection::set(PointAnalysis& point,
                                const std::optional<double>& learning_rate,
                                Group& answer) const {
  Status status = point.status();
  if (status == Status::kOk && point.hessian_status() == Status::kNonFinite) {
    status = Status::kNonFinite;
  }
  const Index num_samples = point.objective().num_samples();
  BatchMoments moments{.status = status, .num_samples = num_samples};
  double rounding = 0;
  bool is_gradient_zero = false;
  if (status == Status::kOk) {
    moments =
        batch_moments(point.objective(), point.theta(), point.hessian_operator(), point.progress());
    rounding = norm(point.gradient_by_rounded_parameters());
    is_gradient_zero = point.is_gradient_zero();
  }
  std::vector<double> sharpness, ratio;
  std::vector<Status> sharpness_status, ratio_status;
  const double threshold = stable_limit(gradient_descent_step());
  for (const Index size : batch_sizes_) {
    const Statistic found = size == num_samples && is_gradient_zero
                                ? missing_statistic(Status::kUndefinedZeroDenominator)
                                : batch_sharpness(moments, size, rounding);
    Statistic over_threshold = found;
    if (!learning_rate) {
      over_threshold = missing_statistic(Status::kNotComputed);
    } else if (found.status == Status::kOk) {
      over_threshold = finite_statistic((found.value * (Wide(*learning_rate) / threshold)).value());
    }
    sharpness.push_back(found.value);
    sharpness_status.push_back(found.status);
    ratio.push_back(over_threshold.value);
    ratio_status.push_back(over_threshold.status);
  }
  answer[sharpness_].set_numbers(std::move(sharpness), std::move(sharpness_status));
  answer[ratio_].set_numbers(std::move(ratio), std::move(ratio_status));
}

}  // namespace hesscope::detail
