// SPDX-License-Identifier: BSD-3-Clause
//
// What a checkpoint stores of the optimiser that produced it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hesscope/core/eigen.h>

namespace hesscope {

/// Optimisers whose update is known, as defined by PyTorch.
enum class OptimizerKind : std::int8_t {
  kNone = 0,     ///< the checkpoint contains nothing of an optimiser
  kUnknown = 1,  ///< it does, but the kind is missing or none of these
  kSgd = 2,
  kAdam = 3,  ///< or AdamW: they differ only in weight decay
  kAmsgrad = 4,
  kNAdam = 5,
  kRAdam = 6,
  kAdamax = 7,
  kRmsprop = 8,
  kAdagrad = 9,
};

/// In the order of the enumerator values.
inline constexpr std::array<std::string_view, 10> kOptimizerKindNames = {
    "none", "unknown", "sgd", "adam", "amsgrad", "nadam", "radam", "adamax", "rmsprop", "adagrad"};
static_assert(kOptimizerKindNames.size() == static_cast<std::size_t>(OptimizerKind::kAdagrad) + 1);

constexpr std::string_view to_string(OptimizerKind kind) {
  return kOptimizerKindNames[static_cast<std::size_t>(kind)];
}

/// The update settings of a group of parameters, as far as they are stored.
struct OptimizerSettings {
  std::optional<double> learning_rate = {};
  std::optional<double> beta1 = {};    ///< of Adam and its variants
  std::optional<double> beta2 = {};    ///< the same
  std::optional<double> epsilon = {};  ///< the number added to a square root
  std::optional<double> momentum = {};
  std::optional<double> dampening = {};
  std::optional<double> momentum_decay = {};       ///< of NAdam
  std::optional<double> learning_rate_decay = {};  ///< of Adagrad
  std::optional<double> weight_decay = {};
  bool is_nesterov = false;
  bool is_centered = false;               ///< RMSprop's
  bool is_maximizing = false;             ///< gradient ascent
  std::optional<bool> is_decoupled = {};  ///< weight decay, if the file says which

  bool operator==(const OptimizerSettings&) const = default;
};

/// Settings that override a checkpoint's.
struct GivenSettings {
  std::optional<double> learning_rate = {};
  std::optional<double> beta1 = {};  ///< or momentum
  std::optional<double> beta2 = {};
  std::optional<double> epsilon = {};

  bool operator==(const GivenSettings&) const = default;
};

/// The state of a checkpoint's optimiser, assigned to the model's parameters.
struct OptimizerState {
  /// The state of one parameter block.
  struct Block {
    /// Index in `groups`; none for a block that the optimiser did not receive and therefore never
    /// changes.
    std::optional<std::size_t> group = {};
    std::optional<std::int64_t> step = {};        ///< updates made; at least 1
    std::optional<double> momentum_product = {};  ///< NAdam's product of momenta
  };

  OptimizerKind kind = OptimizerKind::kNone;
  std::string file = {};    ///< what holds it, a prefix for messages; not part of the texts here
  std::string prefix = {};  ///< prefix of the names of its tensors
  /// The number of the model's parameters that the optimiser did not receive: blocks without a
  /// group or, as the obstacle says, unidentified ones.
  std::size_t num_not_given = 0;
  std::vector<OptimizerSettings> groups = {};
  /// One for each block of the model. Empty if there is an obstacle, and if nothing says which
  /// parameter is in which group, for an optimiser that stores nothing else for them.
  std::vector<Block> blocks = {};
  /// n numbers >= 0, without bias correction: the average of squared gradients of Adam, NAdam and
  /// RAdam, its maximum for AMSGrad, the average of RMSprop, the sum of squares of Adagrad, the
  /// decayed maximum of |gradient| of Adamax. Empty if none are stored.
  Eigen::VectorXd second_moments = {};
  Eigen::VectorXd first_moments = {};  ///< RMSprop's, if it is centered; else empty
  /// Why the stored state cannot be assigned to the parameters or is not understood; empty if it
  /// can, and if nothing is stored.
  std::string obstacle = {};
  std::vector<std::string> warnings = {};  ///< assumptions made, one sentence each

  bool has_second_moments() const { return second_moments.size() > 0; }
};

/// The state of Adam after `step` updates with one group of settings, for parameters in
/// `num_blocks` blocks.
inline OptimizerState adam_state(Eigen::VectorXd second_moments,
                                 std::optional<std::int64_t> step,
                                 const OptimizerSettings& settings = {},
                                 std::size_t num_blocks = 1) {
  OptimizerState state;
  state.kind = OptimizerKind::kAdam;
  state.groups = {settings};
  state.blocks.assign(num_blocks, {.group = 0, .step = step});
  state.second_moments = std::move(second_moments);
  return state;
}

}  // namespace hesscope
