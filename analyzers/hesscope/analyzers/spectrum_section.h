// SPDX-License-Identifier: BSD-3-Clause
//
// What result files say of a spectrum, of the Hessian or of a matrix made of it.
#pragma once

#include <string>
#include <vector>

#include <hesscope/dataset/dataset.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope {

/// eigenvalues (over the dimension `rank`), lambda_min, lambda_median, lambda_max with residuals,
/// counts, rounding_band and proof, each name with `suffix`, of the matrix that `words` names.
std::vector<Variable> spectrum_quantities(const std::string& suffix, const std::string& words);

/// Enters a spectrum under those names. Where its status is not kOk everything is missing for that
/// reason; what it does not hold (the eigenvalues between, where only counts or products were
/// used) is kNotComputed; ends without a count are marked unproved.
void set_spectrum(Group& record, const Spectrum& spectrum, const std::string& suffix);

}  // namespace hesscope
