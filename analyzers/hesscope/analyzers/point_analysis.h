// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <Eigen/Core>

#include <hesscope/core/status.h>
#include <hesscope/objective/objective.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope {

/// How a spectrum is found.
enum class SpectrumMethod {
  kAuto,       ///< as kDense
  kDense,      ///< all eigenvalues (dense_spectrum)
  kIterative,  ///< the smallest, the median and the largest, by counts (counted_spectrum)
};

/// Wall seconds spent on each kind of work.
struct WorkSeconds {
  double hessian = 0;
  double eigen = 0;
};

/// What analyzers may ask about one point of the landscape. Every quantity is computed when first
/// asked for and kept, so that analyzers share it. Not safe for concurrent use.
class PointAnalysis {
 public:
  /// `objective` must outlive this. `progress` follows the Hessian, the longest part.
  PointAnalysis(const Objective& objective,
                Eigen::VectorXd theta,
                ProgressCallback progress = {},
                SpectrumMethod method = SpectrumMethod::kAuto);

  const Objective& objective() const { return *objective_; }

  const Eigen::VectorXd& theta() const { return theta_; }

  double loss();
  const Eigen::VectorXd& gradient();

  /// The Hessian, or nullptr where there is none: see hessian_status().
  const Eigen::MatrixXd* hessian();

  /// kOk, or kNonFinite when the parameters, the loss or the Hessian contain NaN or infinity.
  Status hessian_status();

  /// The spectrum by the method chosen; its status is hessian_status() where that is not kOk.
  const Spectrum& spectrum();

  const WorkSeconds& seconds() const { return seconds_; }

 private:
  const Objective::ValueAndGradient& value_and_gradient();

  const Objective* objective_;
  Eigen::VectorXd theta_;
  ProgressCallback progress_;
  SpectrumMethod method_;
  std::optional<Objective::ValueAndGradient> value_and_gradient_;
  std::optional<Eigen::MatrixXd> hessian_;
  Status hessian_status_ = Status::kNotComputed;
  std::optional<Spectrum> spectrum_;
  WorkSeconds seconds_;
};

}  // namespace hesscope
