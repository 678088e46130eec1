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

/// A distribution that initial parameters are drawn from, by name and settings.
struct InitialDistribution {
  std::string name;
  Settings settings;
};

/// What a distribution takes:
///   normal          N(0, std^2): std
///   uniform         U[low, high): low, high
///   fan-in-uniform  U[-b, b) with b = 1 / sqrt(inputs), as PyTorch's layers have it, of tensors
///                   stored (outputs, inputs). The inputs of a tensor of three dimensions or more
///                   called NAME.weight, a kernel, are the product of all but the first, of other
///                   matrices and stacks of them the number of columns, which of those stored
///                   (inputs, outputs), as the attention models' are, is that of outputs; a vector
///                   NAME.bias takes that of NAME.weight
///   constant        value
struct InitialDistributionKind {
  std::string name;
  std::string summary;
  std::vector<SettingKey> keys;
  /// Fills a block; the second argument gives its fan-in.
  std::function<void(
      const Settings&, const std::function<std::int64_t()>&, RandomStream&, std::span<double>)>
      draw;
};

std::span<const InitialDistributionKind> initial_distribution_kinds();

/// Where initial parameters come from.
struct Initialization {
  /// Of blocks that no pattern names; without a name: the model's own.
  InitialDistribution otherwise = {};
  /// By patterns of names (`*` and `?`); of several that match a block, the last counts.
  std::vector<std::pair<std::string, InitialDistribution>> patterns = {};
};

/// The initial parameters of a seed: block b is drawn from (seed, Stream::kInitialization, b),
/// entry after entry, whatever the others are.
/// @param own  Model::own_parameters, for blocks without a distribution.
/// @throws ConfigError naming a pattern that matches no block, the block that has no
///         fan-in, or the setting that is out of range; PreconditionError by require_blocks().
Eigen::VectorXd initial_parameters(std::span<const ParameterBlock> blocks,
                                   const Initialization& initialization,
                                   std::uint64_t seed,
                                   const Eigen::VectorXd& own = {});

}  // namespace hesscope
