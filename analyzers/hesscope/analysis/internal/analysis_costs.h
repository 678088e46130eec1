// SPDX-License-Identifier: BSD-3-Clause
//
// Estimates what an analysis will cost, measured on small parts of its work or guessed.
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

/// Costs of one checkpoint.
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
  const Eigen::VectorXd* theta = nullptr;  ///< where costs are measured
  const FreshSamples* fresh_samples = nullptr;
  SpectrumMethod method = SpectrumMethod::kAuto;
  int num_ranks = 1;  ///< of kDistributed
  int grid = 0;       ///< side of their grid, for kDistributed; 0 = the largest
  std::span<const ChosenAnalyzer> analyzers;
};

/// The first finite point, or the first point if none is finite. There must be one.
const Eigen::VectorXd& some_finite(std::span<const Eigen::VectorXd> points);

/// Times a small Hessian, a small decomposition and whatever else the analyzers need.
/// @cost a second or less for each.
AnalysisCosts measured_costs(const ForeseenAnalysis& analysis, SecondsClock clock = wall_seconds);

/// From counts of operations: right to a factor of ten or so, at no cost. Does not estimate memory.
AnalysisCosts guessed_costs(const ForeseenAnalysis& analysis);

/// The costs by which the progress of a run over that many points is measured: timed, unless that
/// would take a good part of the run.
AnalysisCosts costs_for_progress(const ForeseenAnalysis& analysis, std::size_t num_points);

}  // namespace hesscope::detail
