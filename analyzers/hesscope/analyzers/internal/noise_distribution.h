// SPDX-License-Identifier: BSD-3-Clause
//
// The distribution of the norms of minibatch noise, in /noise.
#pragma once

#include <Eigen/Core>

#include <hesscope/dataset/dataset.h>
#include <hesscope/noise/minibatch_noise.h>

namespace hesscope::detail {

/// The norms without rounding: those up to `rounding` become 0, and if no two differ by more than
/// that, all become their lower median.
Eigen::VectorXd settled(Eigen::VectorXd norms, double rounding);

/// The norms, their moments and tail, their histogram and their normal QQ plots.
class NoiseDistribution {
 public:
  /// Declares the variables.
  explicit NoiseDistribution(Group& declaring);

  /// If the status of `noise` is not kOk, variables along the draws are missing with this status;
  /// those that need norms, or more of them, are left unset.
  /// @param rounding  as in settled().
  void set(Group& answer,
           const MinibatchNoise& noise,
           double rounding,
           Eigen::Index num_bins) const;

 private:
  void set_moments(Group& answer, const Eigen::VectorXd& norms) const;
  void set_tail(Group& answer, const Eigen::VectorXd& norms) const;
  void set_histogram(Group& answer, const Eigen::VectorXd& norms, Eigen::Index num_bins) const;
  void set_plots(Group& answer, const Eigen::VectorXd& norms) const;

  VariableId norm_;
  VariableId batch_size_;
  VariableId mean_;
  VariableId standard_deviation_;
  VariableId median_;
  VariableId max_over_median_;
  VariableId skewness_;
  VariableId excess_kurtosis_;
  VariableId hill_index_;
  VariableId hill_index_standard_error_;
  VariableId hill_plot_;
  VariableId histogram_edges_;
  VariableId histogram_counts_;
  VariableId histogram_density_;
  VariableId qq_theoretical_;
  VariableId qq_sample_;
  VariableId qq_slope_;
  VariableId qq_intercept_;
  VariableId qq_correlation_;
  VariableId qq_theoretical_standardized_;
  VariableId qq_sample_standardized_;
};

}  // namespace hesscope::detail
