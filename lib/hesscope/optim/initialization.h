// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/core/eigen.h>
#include <hesscope/core/parameter_block.h>
#include <hesscope/core/settings.h>

namespace hesscope {

class RandomStream;

/// A distribution from which initial parameters are drawn, by name and settings.
struct InitialDistribution {
  std::string name;
  Settings settings;
};

/// What a distribution takes:
///   normal          N(0, std^2): std
///   uniform         U[low, high): low, high
///   fan-in-uniform  U[-b, b) with b = 1 / sqrt(inputs), as in PyTorch's layers, for tensors stored
///                   as (outputs, inputs). For a kernel, that is a tensor of three or more
///                   dimensions called NAME.weight, the number of inputs is the product of all
///                   dimensions but the first; for other matrices and stacks of them it is the
///                   number of columns. For matrices stored as (inputs, outputs), as in the
///                   attention models, that is the number of outputs. A vector NAME.bias takes the
///                   number of NAME.weight
///   constant        value
struct InitialDistributionKind {
  std::string name;
  std::string summary;
  std::vector<SettingKey> keys;
  /// Fills a block; the second argument returns the block's fan-in.
  std::function<void(
      const Settings&, const std::function<std::int64_t()>&, RandomStream&, std::span<double>)>
      draw;
};

std::span<const InitialDistributionKind> initial_distribution_kinds();

/// How initial parameters are determined.
struct Initialization {
  /// For blocks that no pattern names; if its name is empty, the model's own values are used.
  InitialDistribution otherwise = {};
  /// By patterns of names (`*` and `?`); if several match a block, the last one counts.
  std::vector<std::pair<std::string, InitialDistribution>> patterns = {};
};

/// The initial parameters of a seed: block b is drawn from (seed, Stream::kInitialization, b),
/// entry by entry, independently of the other blocks.
/// @param own  Model::own_parameters, for blocks without a distribution.
/// @throws ConfigError naming a pattern that matches no block, the block that has no
///         fan-in, or the setting that is out of range; PreconditionError by require_blocks().
Eigen::VectorXd initial_parameters(std::span<const ParameterBlock> blocks,
                                   const Initialization& initialization,
                                   std::uint64_t seed,
                                   const Eigen::VectorXd& own = {});

}  // namespace hesscope
