// SPDX-License-Identifier: BSD-3-Clause
//
// What a checkpoint holds of the optimiser that made it.
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

/// Optimisers whose update is known, as PyTorch defines them.
enum class OptimizerKind : std::int8_t {
  kNone = 0,     ///< the checkpoint says nothing of an optimiser
  kUnknown = 1,  ///< it does, but not of which, or it is none of these
  kSgd = 2,
  kAdam = 3,  ///< or AdamW: they differ in weight decay alone
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

constexpr std::string_view to_string(OptimizerKind kind) {
  return kOptimizerKindNames[static_cast<std::size_t>(kind)];
}

/// How a group of parameters is updated, as far as it is stored.
struct OptimizerSettings {
  std::optional<double> learning_rate = {};
  std::optional<double> beta1 = {};    ///< of Adam and its variants
  std::optional<double> beta2 = {};    ///< the same
  std::optional<double> epsilon = {};  ///< what is added to a square root
  std::optional<double> momentum = {};
  std::optional<double> dampening = {};
  std::optional<double> momentum_decay = {};       ///< of NAdam
  std::optional<double> learning_rate_decay = {};  ///< of Adagrad
  std::optional<double> weight_decay = {};
  bool is_nesterov = false;
  bool is_centered = false;               ///< RMSprop's
  bool is_maximizing = false;             ///< it ascends
  std::optional<bool> is_decoupled = {};  ///< weight decay, where the file says which

  bool operator==(const OptimizerSettings&) const = default;
};

/// Settings that win over a checkpoint's.
struct GivenSettings {
  std::optional<double> learning_rate = {};
  std::optional<double> beta1 = {};  ///< or momentum
  std::optional<double> beta2 = {};
  std::optional<double> epsilon = {};

  bool operator==(const GivenSettings&) const = default;
};

/// What a checkpoint holds of its optimiser, assigned to the model's parameters.
struct OptimizerState {
  /// What is kept for one parameter block.
  struct Block {
    /// In groups; none for a block that the optimiser was not given: it stays as it is.
    std::optional<std::size_t> group = {};
    std::optional<std::int64_t> step = {};        ///< updates made; at least 1
    std::optional<double> momentum_product = {};  ///< NAdam's product of momenta
  };

  OptimizerKind kind = OptimizerKind::kNone;
  std::string file = {};    ///< what holds it, for messages, which the texts here leave to others
  std::string prefix = {};  ///< what the names of its tensors begin with
  /// How many of the model's parameters it was not given: blocks without a group, or, as the
  /// obstacle says, it is not known which.
  std::size_t num_not_given = 0;
  std::vector<OptimizerSettings> groups = {};
  /// One for each of the model's. Empty where there is an obstacle, and where nothing says which
  /// parameter is in which of the groups, of an optimiser that keeps nothing else for them.
  std::vector<Block> blocks = {};
  /// n numbers >= 0, not corrected for their start: Adam's, NAdam's and RAdam's average of squared
  /// gradients, its maximum for AMSGrad, RMSprop's average, Adagrad's sum of squares, Adamax's
  /// decayed maximum of |gradient|. Empty where none are stored.
  Eigen::VectorXd second_moments = {};
  Eigen::VectorXd first_moments = {};  ///< RMSprop's, where it is centered; else empty
  /// Why what is stored cannot be assigned to the parameters or is not understood; empty if it can,
  /// and where nothing is stored.
  std::string obstacle = {};
  std::vector<std::string> warnings = {};  ///< what had to be assumed, one sentence each

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
