// SPDX-License-Identifier: BSD-3-Clause
//
// What the decomposition of a symmetric matrix takes, beforehand.
#pragma once

#include <hesscope/core/eigen.h>
#include <hesscope/core/stopwatch.h>

namespace hesscope {

/// Seconds of dense_spectrum() of an n x n matrix, from those of a small one: its stages grow as
/// n^3 and as n^2. Of counted_spectrum(), too, for large n.
/// @param  clock  what seconds are meant.
/// @cost   up to half a second and 75 MB.
double estimate_decomposition_seconds(Eigen::Index n, SecondsClock clock = wall_seconds);

namespace detail {

/// Of one of the 4/3 n^3 operations of a reduction in one stage (dsytrd) of a matrix that no cache
/// holds. @cost a tenth of a second and 75 MB.
double seconds_of_reduction_operation(SecondsClock clock);

/// Shares that progress is divided by, at the rates of a processor of 2024: of the time of
/// dense_spectrum() that of the reduction to tridiagonal form, ...
double share_of_reduction(Eigen::Index n);

/// ... and of the time of a reduction in two stages that of the first.
double share_of_band_reduction(Eigen::Index n);

}  // namespace detail
}  // namespace hesscope
