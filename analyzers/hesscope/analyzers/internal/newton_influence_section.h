// SPDX-License-Identifier: BSD-3-Clause
//
// Variables of /influence about Newton steps on the loss of all samples but one, which are exact
// where the loss is quadratic; influences by H^+ alone are so to first order in 1 / N.
#pragma once

#include <vector>

#include <Eigen/Core>

#include <hesscope/analyzers/analyzer.h>
#include <hesscope/analyzers/internal/explained_zeros.h>
#include <hesscope/analyzers/internal/unexplained_inverse.h>
#include <hesscope/core/progress.h>

namespace hesscope::detail {

class NewtonInfluenceSection {
 public:
  /// Over the dimensions `influential` and `parameter`.
  explicit NewtonInfluenceSection(Group& declaring);

  /// Enters the steps, and what they change of the loss of the sample itself.
  /// @param hessian    that of all samples at the point, with status kOk.
  /// @param inverse    of it.
  /// @param samples    those left out, one after the other.
  /// @param gradients  theirs at the point, n x samples.size().
  /// @cost newton_step_without_sample() and two values of one sample's loss, for each of them.
  void set(const PointAnalysis& point,
           const UnexplainedHessian& hessian,
           const UnexplainedInverse& inverse,
           const std::vector<Eigen::Index>& samples,
           const Eigen::MatrixXd& gradients,
           const ProgressCallback& progress,
           Group& answer) const;

 private:
  VariableId change_, self_influence_;
};

}  // namespace hesscope::detail
