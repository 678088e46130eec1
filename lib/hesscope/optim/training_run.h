// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/status.h>
#include <hesscope/optim/batches.h>
#include <hesscope/optim/update_rule.h>

namespace hesscope {

/// Training by an update rule with a constant learning rate: with g the gradient of step t's batch
/// at theta,
///   g_i = 0 for parameters that are not trained,   g <- clip(g),
///   theta_i <- theta_i + eta u(theta, g)_i
/// for those that are. Deterministic: the same run takes the same steps to the last bit, also after
/// restore(). Not safe for concurrent use.
class TrainingRun {
 public:
  struct Options {
    double learning_rate = 0;                  ///< eta >= 0
    std::optional<double> clip_norm = {};      ///< clip_norm() of the gradient of what is trained
    std::optional<double> clip_fraction = {};  ///< clip_coordinates() after clip_norm
    std::vector<bool> trained = {};            ///< for every block; empty = all
    /// If the batch loss is above this limit in kLossPatience steps in a row, the run counts as
    /// diverged: clipped steps may stay finite forever. Fewer may be due to outliers, whose clipped
    /// steps do no harm.
    double loss_limit = kInfinity;
  };

  static constexpr int kLossPatience = 10;

  /// @param losses  the loss of every step; must outlive the run.
  /// @param rule  one that has made no steps.
  /// @throws PreconditionError if blocks, rule, start and options do not fit together.
  TrainingRun(BatchLoss& losses,
              std::unique_ptr<UpdateRule> rule,
              Eigen::VectorXd start,
              Options options);

  /// Makes step number num_steps(). Returns kNonFinite if its loss, its gradient or the resulting
  /// parameters are not finite, or if the loss is above its limit for the kLossPatience-th time in
  /// a row: the run has then diverged, its parameters stay as they were before that step, and
  /// further calls return the same.
  /// @cost one gradient of a batch.
  Status step();

  /// Number of steps made.
  std::int64_t num_steps() const { return num_steps_; }

  /// The parameters after num_steps() steps. Always finite.
  const Eigen::VectorXd& parameters() const { return theta_; }

  bool has_diverged() const { return has_diverged_; }

  /// The batch loss of the last step made, at the parameters before it; NaN before the first step.
  double batch_loss() const { return batch_loss_; }

  double learning_rate() const { return options_.learning_rate; }

  std::span<const RuleSetting> rule_settings() const { return rule_->settings(); }

  /// The rule's memory, as a checkpoint stores it.
  std::vector<StateTensor> rule_state() const { return rule_->state(); }

  /// Everything that the next steps depend on, as numbers, whose count is constant during the run.
  std::vector<double> state() const;

  /// Continues from a state() of a run like this one. @throws PreconditionError if it is not one;
  /// the run is then unchanged.
  void restore(std::span<const double> state);

  /// Continues from a checkpoint of a run like this one. batch_loss() is NaN until the next step,
  /// and losses above the limit are counted from here.
  /// @param memory  rule_state() at that time.
  /// @throws PreconditionError for parameters that are not finite or of another size, or the memory
  ///         of another rule or after another number of steps; the run is then unchanged.
  void resume(std::int64_t num_steps,
              Eigen::VectorXd parameters,
              std::span<const StateTensor> memory);

 private:
  Eigen::VectorXd trained_gradient(Eigen::VectorXd gradient) const;
  void restore_rule(std::span<const StateTensor> memory, std::int64_t num_steps, bool has_diverged);

  BatchLoss* losses_;
  std::unique_ptr<UpdateRule> rule_;
  Eigen::VectorXd theta_;
  Options options_;
  Eigen::VectorXd mask_;  // 1 where trained, 0 elsewhere; empty = all
  std::int64_t num_steps_ = 0;
  double batch_loss_;
  int num_above_ = 0;  // how many of the last batch losses in a row were above the limit
  bool has_diverged_ = false;
};

}  // namespace hesscope
