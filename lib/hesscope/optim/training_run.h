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
///   g_i = 0 for what is not trained,   g <- clip(g),   theta_i <- theta_i + eta u(theta, g)_i
/// for what is trained. Deterministic: the same run takes the same steps to the last bit, also
/// after restore(). Not safe for concurrent use.
class TrainingRun {
 public:
  struct Options {
    double learning_rate = 0;              ///< eta >= 0
    std::optional<double> clip_norm = {};  ///< clip_norm() of the gradient, over what is trained
    std::optional<double> clip_fraction = {};  ///< clip_coordinates() of it, after clip_norm
    std::vector<bool> trained = {};            ///< for every block; empty = all
    /// Batch losses above it in kLossPatience steps in a row count as divergence: clipped steps may
    /// stay finite for ever. In fewer they may be of outliers, whose clipped steps do no harm.
    double loss_limit = kInfinity;
  };

  static constexpr int kLossPatience = 10;

  /// @param losses  for every step; must outlive the run.
  /// @throws PreconditionError where blocks, rule, start and options do not fit together.
  TrainingRun(BatchLoss& losses,
              std::unique_ptr<UpdateRule> rule,
              Eigen::VectorXd start,
              Options options);

  /// Makes step number num_steps(). kNonFinite if its loss, its gradient or the parameters it leads
  /// to are not finite, or the loss is above its limit for the kLossPatience-th time in a row: the
  /// run has diverged, its parameters stay as they were before that step, and further calls say so
  /// again.
  /// @cost one gradient of a batch.
  Status step();

  /// Steps made.
  std::int64_t num_steps() const { return num_steps_; }

  /// After num_steps() steps. Always finite.
  const Eigen::VectorXd& parameters() const { return theta_; }

  bool has_diverged() const { return has_diverged_; }

  /// The batch's loss in the last step that was made, at the parameters before it; NaN before the
  /// first.
  double batch_loss() const { return batch_loss_; }

  double learning_rate() const { return options_.learning_rate; }

  std::span<const RuleSetting> rule_settings() const { return rule_->settings(); }

  /// What the rule remembers, as a checkpoint stores it.
  std::vector<StateTensor> rule_state() const { return rule_->state(); }

  /// All that the next steps depend on, as numbers: as many from the start to the end.
  std::vector<double> state() const;

  /// Goes on from a state() of a run like this one. @throws PreconditionError for what is none; the
  /// run is then as it was.
  void restore(std::span<const double> state);

  /// Goes on from a checkpoint of a run like this one. batch_loss() is NaN until the next step, and
  /// losses above the limit are counted from here.
  /// @param memory  rule_state() then.
  /// @throws PreconditionError for parameters that are not finite or of another size, or a memory
  ///         of another rule; the run is then as it was.
  void resume(std::int64_t num_steps,
              Eigen::VectorXd parameters,
              std::span<const StateTensor> memory);

 private:
  Eigen::VectorXd trained_gradient(Eigen::VectorXd gradient) const;

  BatchLoss* losses_;
  std::unique_ptr<UpdateRule> rule_;
  Eigen::VectorXd theta_;
  Options options_;
  Eigen::VectorXd mask_;  // 1 where trained, 0 elsewhere; empty = all
  std::int64_t num_steps_ = 0;
  double batch_loss_;
  int num_above_ = 0;  // the last so many batch losses were above the limit
  bool has_diverged_ = false;
};

}  // namespace hesscope
