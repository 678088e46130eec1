// SPDX-License-Identifier: BSD-3-Clause
//
// The points of an analysis one after the other, each with what analyzers may ask of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <Eigen/Core>

#include <hesscope/analysis/internal/checkpoint_order.h>
#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/analyzers/trajectory.h>
#include <hesscope/problem/problem.h>

namespace hesscope::detail {

/// A point as those who analyze it know it.
struct SequencePoint {
  std::optional<std::int64_t> step;
  OptimizerState optimizer = {};  ///< what its checkpoint holds of one
};

/// What the points have in common. All that is pointed to must outlive the sequence.
struct SequenceContext {
  const Objective* objective = nullptr;
  const FreshSamples* fresh_samples = nullptr;
  std::optional<ModelSamples> model_samples = {};
  /// Where each point has an objective of its own, that of point number `index`, which its analysis
  /// keeps as long as it is needed. Without it the three above are those of all.
  std::function<CheckpointObjective(std::size_t index)> objective_at = {};
  SpectrumMethod method = SpectrumMethod::kAuto;
  const DistributedSolver* solver = nullptr;
  bool proves_fully = false;  ///< by that
  std::uint64_t seed = 0;
  GivenSettings given_settings = {};
  /// The runs that the points are of; empty = a new one wherever the step does not go up.
  std::vector<CheckpointRun> runs = {};
  /// Of the work at point number `index`; returning false asks for it to stop.
  std::function<bool(std::size_t index, double fraction)> progress;
};

class PointSequence {
 public:
  /// @param thetas  the parameters at each point; must outlive this. One SequencePoint for each.
  PointSequence(SequenceContext context,
                std::span<const Eigen::VectorXd> thetas,
                std::vector<SequencePoint> points);
  PointSequence(const PointSequence&) = delete;
  PointSequence& operator=(const PointSequence&) = delete;

  /// Point number i with its run and the point before it there. Points are visited in order.
  std::shared_ptr<PointAnalysis> visit(std::size_t i);

  /// What the progress at each of the points to come goes by.
  void set_costs(const PointCosts& costs) { costs_ = costs; }

  /// Leaves a point out.
  void pass() { last_.reset(); }

 private:
  std::shared_ptr<PointAnalysis> make_point(std::size_t i);

  // Makes trajectory_ that of the run of point i.
  void find_trajectory(std::size_t i);

  SequenceContext context_;
  std::span<const Eigen::VectorXd> thetas_;
  std::vector<SequencePoint> points_;
  std::shared_ptr<PointAnalysis> last_;
  PointCosts costs_;
  std::shared_ptr<Trajectory> trajectory_;  // of the point made last
  std::size_t first_of_trajectory_ = 0;     // in the sequence
};

}  // namespace hesscope::detail
