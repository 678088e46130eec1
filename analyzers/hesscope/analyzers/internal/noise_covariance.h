// SPDX-License-Identifier: BSD-3-Clause
//
// The covariance of per-sample gradients, compared with gradient and Hessian, in /noise.
#pragma once

#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/noise/gradient_covariance.h>
#include <hesscope/noise/noise_scale.h>
#include <hesscope/spectra/eigensystem.h>

namespace hesscope::detail {

/// The size of the covariance, noise scales, and its alignment with the Hessian.
class NoiseCovariance {
 public:
  /// Declares the variables.
  explicit NoiseCovariance(Group& declaring);

  /// Takes the first 0.7 of the point's progress.
  /// @returns rounding_of_gradients().
  double set(Group& answer, PointAnalysis& point) const;

 private:
  struct Scale {
    VariableId value;
    VariableId bias;
    VariableId standard_error;
  };

  static Scale declare_scale(Group& declaring, const Variable& value);
  static void set_scale(Group& answer, const Scale& ids, const NoiseScale& scale);
  void set_missing_curvature(Group& answer, Status status) const;
  void set_missing_alignment(Group& answer, Status status) const;
  void set_missing_noise(Group& answer, Status status) const;
  void set_spectrum(Group& answer,
                    const Eigensystem& eigensystem,
                    const GradientCovariance& covariance) const;

  VariableId covariance_trace_;
  Scale simple_;
  Scale hessian_;
  VariableId alignment_cosine_;
  VariableId commutator_;
  VariableId eigenvalues_;
  VariableId eigendirection_noise_;
  VariableId noise_exponent_;
  VariableId noise_exponent_standard_error_;
  VariableId noise_exponent_count_;
};

}  // namespace hesscope::detail
