// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <any>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <hesscope/core/eigen.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

/// What is known about the run of a trajectory's points.
enum class KnownOfRun {
  kAll,       ///< every checkpoint
  kFromHere,  ///< those from the first point on, but not what came before it
  kAlone,     ///< one checkpoint, but not what comes before and after it
};

/// Checkpoints of one training run of one model, in order, for analyzers whose answer at one
/// checkpoint depends on others. Not safe for concurrent use.
class Trajectory {
 public:
  using ObjectiveAt = std::function<std::shared_ptr<const Objective>(std::size_t i)>;

  /// @param points        the parameters at each checkpoint; must outlive this.
  /// @param known         what is known about their run.
  /// @param objective_at  the objective of each checkpoint; empty if all have the same one.
  explicit Trajectory(std::span<const Eigen::VectorXd> points,
                      KnownOfRun known = KnownOfRun::kAll,
                      ObjectiveAt objective_at = {})
      : points_(points), known_(known), objective_at_(std::move(objective_at)) {}

  std::size_t size() const { return points_.size(); }

  KnownOfRun known() const { return known_; }

  const Eigen::VectorXd& point(std::size_t i) const { return points_[i]; }

  /// The objective at checkpoint i, to be kept no longer than needed; nullptr if all checkpoints
  /// have the same one.
  std::shared_ptr<const Objective> objective_at(std::size_t i) const {
    return objective_at_ ? objective_at_(i) : nullptr;
  }

  /// What an analyzer of this name keeps from one checkpoint to the next; empty at first. It may
  /// only save work: an interrupted run continues without it, at any checkpoint.
  std::any& notes(const std::string& analyzer) { return notes_[analyzer]; }

 private:
  std::span<const Eigen::VectorXd> points_;
  KnownOfRun known_;
  ObjectiveAt objective_at_;
  std::map<std::string, std::any> notes_;
};

}  // namespace hesscope
