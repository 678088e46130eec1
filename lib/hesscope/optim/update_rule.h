// SPDX-License-Identifier: BSD-3-Clause
//
// Update rules: how an optimiser turns gradients into updates. A rule is a direction and a memory;
// learning rates, schedules, clipping and batches are the caller's business.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include <hesscope/core/eigen.h>
#include <hesscope/core/parameter_block.h>

namespace hesscope {

/// A named array in a rule's memory, as a checkpoint stores it.
struct StateTensor {
  std::string name;
  std::vector<std::int64_t> shape;  ///< empty for a single number
  std::vector<double> values;       ///< row-major
};

/// A numeric setting of a rule, as a checkpoint stores it: named as in the param_groups of
/// PyTorch's optimisers, which share most of them.
struct RuleSetting {
  std::string name;
  double value = 0;
};

/// Turns gradients into updates,
///   theta <- theta + learning_rate * step(theta, gradient).
/// The learning rate stays outside because every rule here is linear in it, including decoupled
/// weight decay: a schedule needs no access to the rule, and rules can be compared by their
/// directions along one trajectory. Given the same gradients, a rule returns the same bits.
///
/// Not safe for concurrent use.
class UpdateRule {
 public:
  using ConstVectorRef = Eigen::Ref<const Eigen::VectorXd>;

  UpdateRule(const UpdateRule&) = delete;
  UpdateRule& operator=(const UpdateRule&) = delete;
  virtual ~UpdateRule() = default;

  Eigen::Index num_parameters() const { return num_parameters_; }

  std::span<const ParameterBlock> parameter_blocks() const { return blocks_; }

  /// The settings that PyTorch's param_groups have, as stored in checkpoints, without the learning
  /// rate.
  std::span<const RuleSetting> settings() const { return settings_; }

  /// Number of calls of step() so far, including those before a restored state.
  std::int64_t num_steps() const { return num_steps_; }

  /// Returns the update to add to theta for a learning rate of 1, which points downhill, and takes
  /// the gradient into the memory. Non-finite values are returned, not thrown, and stay in the
  /// memory.
  /// @param theta, gradient  num_parameters() entries; the parameters before the update.
  /// @throws PreconditionError for another size, also of what the rule makes.
  Eigen::VectorXd step(const ConstVectorRef& theta, const ConstVectorRef& gradient);

  /// The whole memory: `step`, the number of updates, and NAME.BLOCK for every array NAME and
  /// parameter block, named as in PyTorch's optimisers (exp_avg, exp_avg_sq, momentum_buffer).
  /// Names and shapes never change.
  std::vector<StateTensor> state() const;

  /// Continues from a state() of a rule of the same kind and blocks, with the same bits.
  /// @throws PreconditionError naming the tensor that is missing, unknown or of another shape, or
  ///         if `step` is not a number of steps. The rule is then unchanged.
  void restore(std::span<const StateTensor> state);

 protected:
  /// @throws PreconditionError by require_blocks().
  explicit UpdateRule(std::span<const ParameterBlock> blocks);

  /// Declares a setting; flags are 0 or 1. @throws PreconditionError for NaN.
  void add_setting(const std::string& name, double value);

  /// Declares an array of the memory with n entries, initially zero, which is stored as one tensor
  /// NAME.BLOCK per block. The reference is valid as long as the rule.
  /// @throws PreconditionError for the name of another array.
  Eigen::VectorXd& add_state(const std::string& name);

  /// The same with its own layout: tensors NAME.LAYOUT_NAME at their offsets.
  Eigen::VectorXd& add_state(const std::string& name, std::vector<ParameterBlock> layout);

 private:
  struct Array {
    std::string name;
    std::vector<ParameterBlock> layout;
    Eigen::VectorXd values;
  };

  /// step() for arguments of the right size, num_parameters() entries; num_steps() does not yet
  /// count it.
  virtual Eigen::VectorXd update(const ConstVectorRef& theta, const ConstVectorRef& gradient) = 0;

  std::vector<ParameterBlock> blocks_;
  Eigen::Index num_parameters_ = 0;
  std::int64_t num_steps_ = 0;
  std::vector<RuleSetting> settings_;
  std::deque<Array> arrays_;  // a deque, so that its elements never move
};

}  // namespace hesscope
