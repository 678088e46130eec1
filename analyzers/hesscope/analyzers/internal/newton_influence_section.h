// SPDX-License-Identifier: BSD-3-Clause
//
// Variables of /influence about Newton steps on the loss of all samples but one. They are exact if
// the loss is quadratic; influences by H^+ alone are exact only to first order in 1 / N.
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
  /// Uses the dimensions `influential` and `parameter`.
  explicit NewtonInfluenceSection(Group& declaring);

  /// Sets the steps, and how they change the loss of the left-out sample itself.
  /// @param hessian    that of all samples at the point, with status kOk.
  /// @param inverse    that of `hessian`.
  /// @param samples    those to leave out, one at a time.
  /// @param gradients  their gradients at the point, n x samples.size().
  /// @cost newton_step_without_sample() and two values of one sample's loss, for each of the
  ///       samples.
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
