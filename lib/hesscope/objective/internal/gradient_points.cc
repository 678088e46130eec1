// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/random_numbers.h>
#include <hesscope/objective/internal/gradient_points.h>

namespace hesscope::detail {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void require_max_samples(const char* function, Index max_samples) {
  if (max_samples < 1) {
    throw PreconditionError(
        fmt::format("{}: max_samples must be at least 1, got {}", function, max_samples));
  }
}

VectorXd random_parameters(std::span<const ParameterBlock> blocks, std::mt19937_64& engine) {
  VectorXd theta(blocks.back().offset + blocks.back().size);
  for (const ParameterBlock& block : blocks) {
    const double rows = block.shape.size() > 1 ? static_cast<double>(block.shape.front()) : 1.0;
    const double width = static_cast<double>(block.size) / rows;
    const double scale = block.shape.size() > 1 ? 1 / std::sqrt(width) : 0.5;
    for (Index e = 0; e < block.size; ++e) theta(block.offset + e) = scale * normal_number(engine);
  }
  return theta;
}

MatrixXd sample_gradients(const Objective& objective, const VectorXd& theta, Index max_samples) {
  const Index num_samples = std::min(max_samples, objective.num_samples());
  const Index stride = objective.num_samples() / num_samples;
  MatrixXd gradients(objective.num_parameters(), num_samples);
  for (Index s = 0; s < num_samples; ++s) {
    gradients.col(s) = objective.per_sample_gradients(theta, {s * stride, s * stride + 1});
  }
  return gradients;
}

std::vector<GradientPoint> random_gradient_points(const Objective& objective,
                                                  std::mt19937_64& engine,
                                                  Index max_samples,
                                                  std::size_t count) {
  std::vector<GradientPoint> points;
  for (std::size_t attempt = 0; attempt < 4 * count && points.size() < count; ++attempt) {
    VectorXd theta = random_parameters(objective.parameter_blocks(), engine);
    MatrixXd gradients = sample_gradients(objective, theta, max_samples);
    GradientPoint point{std::move(theta), std::move(gradients)};
    if (point.gradients.allFinite()) points.push_back(std::move(point));
  }
  return points;
}

}  // namespace hesscope::detail
