// SPDX-License-Identifier: BSD-3-Clause
//
// Variables of /sharpening about the loss on lines along eigenvectors, and about the orbits of
// gradient descent on them.
#pragma once

#include <array>

#include <hesscope/analyzers/analyzer.h>
#include <hesscope/analyzers/internal/eigenvalue_clusters.h>

namespace hesscope::detail {

/// The given learning rate or that of the checkpoint, if it is the same for all parameters and a
/// limit to the curvature of the loss (has_limit() in stability_settings.h).
struct KnownRate {
  Status status = Status::kNotStored;
  double value = 0;  ///< only with kOk
};

class FlipSection {
 public:
  explicit FlipSection(Group& declaring);

  /// Adds the cost of `num_pairs` lines.
  void add_cost(const Objective& objective, double num_pairs, Analyzer::Cost& cost) const;

  /// Sets the variables for the largest eigenvalues.
  void set(PointAnalysis& point,
           const ClusteredEnd& end,
           const KnownRate& rate,
           Group& answer) const;

 private:
  std::array<VariableId, 5> all() const {
    return {first_, third_, fourth_, coefficient_, half_width_};
  }

  VariableId first_, third_, fourth_, coefficient_, half_width_;
};

}  // namespace hesscope::detail
