// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include <hesscope/core/parameter_block.h>
#include <hesscope/core/settings.h>

namespace hesscope {

class RandomStream;

/// A distribution that initial parameters are drawn from, by name and settings.
struct InitialDistribution {
  std::string name;
  Settings settings;
};

/// What a distribution takes:
///   normal          N(0, std^2): std
///   uniform         U[low, high): low, high
///   fan-in-uniform  U[-b, b) with b = 1 / sqrt(columns), as PyTorch's Linear has it; a vector
///                   NAME.bias takes the columns of NAME.weight
///   constant        value
struct InitialDistributionKind {
  std::string name;
  std::vector<SettingKey> keys;
  /// Fills a block; the second argument gives its number of columns.
  std::function<void(
      const Settings&, const std::function<std::int64_t()>&, RandomStream&, std::span<double>)>
      draw;
};

std::span<const InitialDistributionKind> initial_distribution_kinds();

/// Where initial parameters come from.
struct Initialization {
  InitialDistribution
      otherwise;  ///< of blocks that no pattern names; without a name: the model's own
  /// By patterns of names (`*` and `?`); of several that match a block, the last counts.
  std::vector<std::pair<std::string, InitialDistribution>> patterns;
};

/// The initial parameters of a seed: block b is drawn from (seed, Stream::kInitialization, b),
/// entry after entry, whatever the others are.
/// @param own  Model::own_parameters, for blocks without a distribution.
/// @throws ConfigError naming a pattern that matches no block, the block of a fan-in without
///         columns, or the setting that is out of range.
Eigen::VectorXd initial_parameters(std::span<const ParameterBlock> blocks,
                                   const Initialization& initialization,
                                   std::uint64_t seed,
                                   const Eigen::VectorXd& own = {});

}  // namespace hesscope
