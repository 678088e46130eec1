// SPDX-License-Identifier: BSD-3-Clause
//
// Variables of /sharpening about the loss on lines along eigenvectors, and about the orbits of
// gradient descent on them.
#pragma once

#include <array>

#include <hesscope/analyzers/analyzer.h>
#include <hesscope/analyzers/internal/eigenvalue_clusters.h>

namespace hesscope::detail {

/// A checkpoint's learning rate, or the given one, where it has one for all parameters and
/// descends.
struct KnownRate {
  Status status = Status::kNotStored;
  double value = 0;  ///< with kOk alone
};

class FlipSection {
 public:
  explicit FlipSection(Group& declaring);

  /// Adds what `num_pairs` lines take.
  void add_cost(const Objective& objective, double num_pairs, Analyzer::Cost& cost) const;

  /// Of the largest eigenvalues.
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
