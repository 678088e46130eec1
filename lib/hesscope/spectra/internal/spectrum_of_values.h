// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

#include <hesscope/spectra/spectrum.h>

namespace hesscope::detail {

/// The spectrum that follows from all eigenvalues of 2^-exponent H, ascending, n >= 1, without
/// residuals and dead parameters. Status kOk with proof kDense, or kNonFinite if an eigenvalue of H
/// is beyond the range of double. The rounding band is at least `least_band`.
Spectrum spectrum_of_values(const Eigen::VectorXd& scaled, int exponent, double least_band = 0.0);

}  // namespace hesscope::detail
