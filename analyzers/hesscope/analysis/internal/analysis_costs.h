// SPDX-License-Identifier: BSD-3-Clause
//
// What an analysis will take, beforehand: measured on small parts of its work, or guessed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <Eigen/Core>

#include <hesscope/analysis/internal/chosen_analyzers.h>
#include <hesscope/analyzers/analyzer.h>
#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/core/stopwatch.h>

namespace hesscope::detail {

/// Of one checkpoint.
struct AnalysisCosts {
  PointCosts point;         ///< seconds
  double gradient = 0;      ///< of the loss and the gradient at the point, seconds
  std::vector<double> own;  ///< of each analyzer, beyond the point's, seconds
  double memory_bytes = 0;  ///< held at once

  double seconds() const { return gradient + point.hessian + point.spectrum + point.own; }
};

/// An analysis whose costs are asked for.
struct ForeseenAnalysis {
  const Objective* objective = nullptr;
  const Eigen::VectorXd* theta = nullptr;  ///< where it is measured
  const FreshSamples* fresh_samples = nullptr;
  SpectrumMethod method = SpectrumMethod::kAuto;
  int num_ranks = 1;  ///< of kDistributed
  int grid = 0;       ///< the same: the side of their grid; 0 = the largest
  std::span<const ChosenAnalyzer> analyzers;
};

/// The first of the points that is finite, or the first; there is one.
const Eigen::VectorXd& some_finite(std::span<const Eigen::VectorXd> points);

/// From a small Hessian, a small decomposition and whatever else the analyzers need, timed.
/// @cost a second or less of each.
AnalysisCosts measured_costs(const ForeseenAnalysis& analysis, SecondsClock clock = wall_seconds);

/// From counts of operations: right to a factor of ten or so, at no cost. Memory is not foreseen.
AnalysisCosts guessed_costs(const ForeseenAnalysis& analysis);

/// What the progress of a run over so many points goes by: measured, unless that would take a good
/// part of the run.
AnalysisCosts costs_for_progress(const ForeseenAnalysis& analysis, std::size_t num_points);

}  // namespace hesscope::detail
