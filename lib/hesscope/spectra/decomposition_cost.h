// SPDX-License-Identifier: BSD-3-Clause
//
// Estimates of the time to decompose a symmetric matrix.
#pragma once

#include <hesscope/core/eigen.h>
#include <hesscope/core/stopwatch.h>

namespace hesscope {

/// Seconds that dense_spectrum() takes for an n x n matrix, extrapolated from a small one: its
/// stages grow as n^3 and as n^2. For large n also valid for counted_spectrum().
/// @param  clock  which seconds to measure.
/// @cost   up to half a second and 75 MB.
double estimate_decomposition_seconds(Eigen::Index n, SecondsClock clock = wall_seconds);

namespace detail {

/// Seconds per operation (of 4/3 n^3) of a one-stage reduction (dsytrd) of a matrix too large for
/// any cache. @cost a tenth of a second and 75 MB.
double seconds_of_reduction_operation(SecondsClock clock);

/// Shares by which progress is divided, at the rates of a processor of 2024: the share of the
/// reduction to tridiagonal form in the time of dense_spectrum(), ...
double share_of_reduction(Eigen::Index n);

/// ... and the share of the first stage in the time of a two-stage reduction.
double share_of_band_reduction(Eigen::Index n);

}  // namespace detail
}  // namespace hesscope
