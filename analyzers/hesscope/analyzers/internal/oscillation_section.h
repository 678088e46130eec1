// SPDX-License-Identifier: BSD-3-Clause
//
// Variables of /sharpening about the oscillation of gradient descent at its edge of stability: what
// theory predicts (self_stabilization.h), and what one point shows of it.
#pragma once

#include <array>

#include <hesscope/analyzers/analyzer.h>
#include <hesscope/analyzers/internal/eigenvalue_clusters.h>
#include <hesscope/analyzers/internal/flip_section.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/status.h>

namespace hesscope::detail {

class OscillationSection {
 public:
  explicit OscillationSection(Group& declaring);

  void add_cost(const Objective& objective, Analyzer::Cost& cost) const;

  /// For the largest eigenvalue, if it is alone in its cluster.
  /// @param gradient  at the point, zero if it is only rounding.
  void set(PointAnalysis& point,
           const Eigen::VectorXd& gradient,
           const ClusteredEnd& end,
           const KnownRate& rate,
           Group& answer) const;

 private:
  // In the order of declaration.
  enum Quantity {
    kCentreRate,
    kCentreGap,
    kSquaredOffset,
    kVariance,
    kLossExcess,
    kPredictedLossExcess,
    kPredictedSquaredGradient,
    kCycleEnergy,
    kCycleGap,
    kCyclePeriod,
    kNumQuantities
  };

  struct Outcome {
    double value = kNaN;
    Status status = Status::kNotComputed;
  };

  using Outcomes = std::array<Outcome, kNumQuantities>;

  static Outcomes oscillation(PointAnalysis& point,
                              const Eigen::VectorXd& gradient,
                              const ClusteredEnd& end,
                              const EigenvalueCluster& cluster,
                              const KnownRate& rate);

  std::array<VariableId, kNumQuantities> at_edge_;
  VariableId squared_gradient_;
};

}  // namespace hesscope::detail
