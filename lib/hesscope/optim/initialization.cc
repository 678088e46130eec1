// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/parameter_block.h>
#include <hesscope/core/settings.h>
#include <hesscope/optim/initialization.h>
#include <hesscope/sampling/random_stream.h>

namespace hesscope {
namespace {

SettingKey required_real(const std::string& name,
                         const std::string& meaning,
                         const RealRange& range) {
  return {.name = name, .type = SettingKey::Type::kReal, .meaning = meaning, .range = range};
}

constexpr const char* kWeight = ".weight";

// For a tensor with two or more dimensions.
std::int64_t inputs_of_an_output(const ParameterBlock& block) {
  const std::vector<std::int64_t>& shape = block.shape;
  const bool is_kernel = shape.size() > 2 && block.name.ends_with(kWeight);
  if (!is_kernel) return shape.back();
  return std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t fan_in(std::span<const ParameterBlock> blocks, const ParameterBlock& block) {
  if (block.shape.size() >= 2) return inputs_of_an_output(block);
  const std::string kBias = ".bias";
  if (block.name.ends_with(kBias)) {
    const std::string weight = block.name.substr(0, block.name.size() - kBias.size()) + kWeight;
    for (const ParameterBlock& other : blocks) {
      if (other.name == weight && other.shape.size() >= 2) return inputs_of_an_output(other);
    }
  }
  throw ConfigError(fmt::format(
      "parameter '{}' has no columns: 'fan-in-uniform' is for matrices, kernels and their biases",
      block.name));
}

void fill_uniform(double low, double high, RandomStream& stream, std::span<double> out) {
  for (double& x : out) x = low + (high - low) * stream.uniform();
}

using FanIn = std::function<std::int64_t()>;

InitialDistributionKind normal_kind() {
  return {.name = "normal",
          .summary = "N(0, std^2)",
          .keys = {required_real("std", "standard deviation", kNonNegative)},
          .draw = [](const Settings& settings, const FanIn&, RandomStream& stream, auto out) {
            const double deviation = settings.real("std");
            stream.normal(out);
            for (double& x : out) x *= deviation;
            if (!std::ranges::all_of(out, [](double x) { return std::isfinite(x); })) {
              settings.refuse("std", fmt::format("'std' is too large for doubles: {}", deviation));
            }
          }};
}

InitialDistributionKind uniform_kind() {
  return {.name = "uniform",
          .summary = "U[low, high)",
          .keys = {required_real("low", "smallest value", kFinite),
                   required_real("high", "largest value", kFinite)},
          .draw = [](const Settings& settings, const FanIn&, RandomStream& stream, auto out) {
            const double low = settings.real("low");
            const double high = settings.real("high");
            if (high < low) {
              settings.refuse("high", fmt::format("'high' must be at least 'low', got {}", high));
            }
            if (!std::isfinite(high - low)) {
              settings.refuse(
                  "high",
                  fmt::format("'high' - 'low' is too large for a double: {} - {}", high, low));
            }
            fill_uniform(low, high, stream, out);
          }};
}

InitialDistributionKind fan_in_uniform_kind() {
  return {.name = "fan-in-uniform",
          .summary =
              "U[-b, b) with b = 1 / sqrt(columns), as PyTorch's layers, stored (outputs, "
              "inputs), have it; of a kernel NAME.weight 1 / sqrt(inputs of an output); a "
              "vector NAME.bias takes that of NAME.weight; 0 where there are no inputs",
          .keys = {},
          .draw = [](const Settings&, const FanIn& fan_in, RandomStream& stream, auto out) {
            const auto inputs = static_cast<double>(fan_in());
            const double bound = inputs == 0 ? 0 : 1 / std::sqrt(inputs);
            fill_uniform(-bound, bound, stream, out);
          }};
}

InitialDistributionKind constant_kind() {
  return {.name = "constant",
          .summary = "one number",
          .keys = {required_real("value", "of every entry", kFinite)},
          .draw = [](const Settings& settings, const FanIn&, RandomStream&, auto out) {
            const double value = settings.real("value");
            std::fill(out.begin(), out.end(), value);
          }};
}

const InitialDistributionKind& kind_of(const InitialDistribution& distribution) {
  for (const InitialDistributionKind& kind : initial_distribution_kinds()) {
    if (kind.name == distribution.name) return kind;
  }
  throw PreconditionError(
      fmt::format("initial_parameters: no distribution '{}'", distribution.name));
}

}  // namespace

std::span<const InitialDistributionKind> initial_distribution_kinds() {
  static const std::vector<InitialDistributionKind> kinds = {
      normal_kind(),
      uniform_kind(),
      fan_in_uniform_kind(),
      constant_kind(),
  };
  return kinds;
}

Eigen::VectorXd initial_parameters(std::span<const ParameterBlock> blocks,
                                   const Initialization& initialization,
                                   std::uint64_t seed,
                                   const Eigen::VectorXd& own) {
  const Eigen::Index n = require_blocks("initial_parameters", blocks);
  std::vector<const InitialDistribution*> chosen(blocks.size(), &initialization.otherwise);
  for (const auto& [pattern, distribution] : initialization.patterns) {
    const std::vector<bool> matching = blocks_matching(blocks, std::span(&pattern, 1));
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (matching[b]) chosen[b] = &distribution;
    }
  }
  Eigen::VectorXd theta(n);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (chosen[b]->name.empty() && own.size() == n) {
      theta.segment(blocks[b].offset, blocks[b].size) =
          own.segment(blocks[b].offset, blocks[b].size);
      continue;
    }
    RandomStream stream(seed, Stream::kInitialization, b);
    kind_of(*chosen[b])
        .draw(chosen[b]->settings,
              [&] { return fan_in(blocks, blocks[b]); },
              stream,
              {theta.data() + blocks[b].offset, static_cast<std::size_t>(blocks[b].size)});
  }
  return theta;
}

}  // namespace hesscope
