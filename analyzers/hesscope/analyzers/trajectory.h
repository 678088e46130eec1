// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <any>
#include <cstddef>
#include <map>
#include <span>
#include <string>

#include <hesscope/core/eigen.h>

namespace hesscope {

/// Checkpoints of one training run of one objective, in order, for analyzers whose answer at one
/// depends on others. Not safe for concurrent use.
class Trajectory {
 public:
  /// @param points      the parameters at each checkpoint; must outlive this.
  /// @param is_ordered  false for one checkpoint of a run whose order is not known.
  explicit Trajectory(std::span<const Eigen::VectorXd> points, bool is_ordered = true)
      : points_(points), is_ordered_(is_ordered) {}

  std::size_t size() const { return points_.size(); }

  /// Whether what comes before and after is known.
  bool is_ordered() const { return is_ordered_; }

  const Eigen::VectorXd& point(std::size_t i) const { return points_[i]; }

  /// What an analyzer of this name keeps from one checkpoint to the next; empty at first. It may
  /// save work and nothing else: an interrupted run goes on without it, at any checkpoint.
  std::any& notes(const std::string& analyzer) { return notes_[analyzer]; }

 private:
  std::span<const Eigen::VectorXd> points_;
  bool is_ordered_;
  std::map<std::string, std::any> notes_;
};

}  // namespace hesscope
