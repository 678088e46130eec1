// SPDX-License-Identifier: BSD-3-Clause
//
// What result files store about the spectrum of the Hessian or of a matrix derived from it.
#pragma once

#include <string>
#include <vector>

#include <hesscope/dataset/dataset.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope {

/// Positions of a spectrum's variables in the summary, as Variable::headline.
struct SpectrumHeadline {
  int lambda_min = 0;
  int lambda_median = 0;
  int lambda_max = 0;
  int num_negative = 0;
  int num_zero = 0;
  int num_dead = 0;
};

/// eigenvalues (over the dimension `rank`), lambda_min, lambda_median, lambda_max with residuals,
/// counts, rounding_band and proof.
class SpectrumSection {
 public:
  /// Declares the variables.
  /// @param suffix  of each name.
  /// @param words   the matrix in words.
  /// @param norm    the norm to which its rounding band is proportional.
  SpectrumSection(Group& declaring,
                  const std::string& suffix,
                  const std::string& words,
                  const SpectrumHeadline& headline,
                  const std::string& norm = "the largest eigenvalue magnitude");

  /// Sets the variables for a spectrum. If its status is not kOk, everything is missing for that
  /// reason. What the spectrum does not hold (the eigenvalues in between, if only counts or
  /// products were used) is kNotComputed. Ends without a count are marked unproved.
  void set(Group& answer, const Spectrum& spectrum) const;

 private:
  void set_known(Group& answer, const Spectrum& spectrum) const;

  std::vector<VariableId> all_;
  VariableId eigenvalues_;
  VariableId lambda_min_, lambda_median_, lambda_max_;
  VariableId residual_min_, residual_median_, residual_max_;
  VariableId num_negative_, num_zero_, num_positive_, num_dead_;
  VariableId rounding_band_;
  VariableId proof_;
};

}  // namespace hesscope
