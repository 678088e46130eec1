// SPDX-License-Identifier: BSD-3-Clause
//
// Variables of /stability about the curvature that minibatch gradients see.
#pragma once

#include <optional>
#include <vector>

#include <hesscope/analyzers/analyzer.h>

namespace hesscope::detail {

class BatchSharpnessSection {
 public:
  /// @param batch_sizes  not empty.
  BatchSharpnessSection(Group& declaring, std::vector<Eigen::Index> batch_sizes);

  /// @throws ConfigError for a batch size above the number of samples.
  Dimension dimension(const Objective& objective) const;

  /// Adds the cost of batch_moments().
  void add_cost(const Objective& objective, Analyzer::Cost& cost) const;

  /// At a point with a Hessian, or an operator in its place; otherwise sets the point's status.
  void set(PointAnalysis& point, const std::optional<double>& learning_rate, Group& answer) const;

 private:
  std::vector<Eigen::Index> batch_sizes_;
  VariableId sharpness_, ratio_;
};

}  // namespace hesscope::detail
