// SPDX-License-Identifier: BSD-3-Clause
//
// The points of an analysis in sequence, each with access to what analyzers may ask about the
// others.
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

/// A point as its analyzers know it.
struct SequencePoint {
  std::optional<std::int64_t> step;
  OptimizerState optimizer = {};  ///< from its checkpoint
};

/// What the points have in common. Everything that is pointed to must outlive the sequence.
struct SequenceContext {
  const Objective* objective = nullptr;
  const FreshSamples* fresh_samples = nullptr;
  std::optional<ModelSamples> model_samples = {};
  /// If each point has an objective of its own: returns that of point number `index`, which its
  /// analysis keeps as long as it is needed. Otherwise the three members above hold for all points.
  std::function<CheckpointObjective(std::size_t index)> objective_at = {};
  SpectrumMethod method = SpectrumMethod::kAuto;
  const DistributedSolver* solver = nullptr;
  bool proves_fully = false;  ///< for the proof of all eigenvalues
  std::uint64_t seed = 0;
  GivenSettings given_settings = {};
  /// The runs of the points; empty = a new run wherever the step does not increase.
  std::vector<CheckpointRun> runs = {};
  /// Called during the work at point number `index`; returning false asks it to stop.
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

  /// Point number i with its run and the previous point there. Points are visited in order.
  std::shared_ptr<PointAnalysis> visit(std::size_t i);

  /// The costs by which progress at each of the remaining points is measured.
  void set_costs(const PointCosts& costs) { costs_ = costs; }

  /// Skips a point.
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
  std::shared_ptr<Trajectory> trajectory_;  // of the last point made
  std::size_t first_of_trajectory_ = 0;     // in the sequence
};

}  // namespace hesscope::detail
