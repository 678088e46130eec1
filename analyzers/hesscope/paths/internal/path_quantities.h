// SPDX-License-Identifier: BSD-3-Clause
//
// What is measured on a path.
#pragma once

#include <cstdint>
#include <iterator>
#include <vector>

#include <Eigen/Core>

#include <hesscope/dataset/dataset.h>
#include <hesscope/spectra/critical_point.h>

namespace hesscope::detail {

// Its dimensions, in addition to the root's.
inline constexpr const char* kImage = "image";
inline constexpr const char* kPlace = "place";
inline constexpr const char* kRank = "rank";

/// The coordinate along `place`.
Variable place_quantity();

/// The second checkpoint aligned with the first.
std::vector<Variable> alignment_quantities();

/// The loss on the straight paths: along `place`, and for the whole path.
std::vector<Variable> straight_quantities();

/// The band as a whole, when it is at rest.
std::vector<Variable> band_quantities();

/// Quantities of each image of the band; with its spectrum and, if the Hessian is assembled, all
/// eigenvalues.
std::vector<Variable> image_quantities(bool has_spectrum, bool is_assembled);

/// The pass: the critical point to which Newton's method leads from the highest point of the band.
std::vector<Variable> saddle_quantities();

/// Values of the flag saddle_outcome: those of CriticalPointOutcome, followed by these two.
inline constexpr auto kNoPass = static_cast<std::int8_t>(std::size(kCriticalPointOutcomes));
inline constexpr std::int8_t kNotSearched = kNoPass + 1;
inline constexpr std::int8_t kElsewhere = kNoPass + 2;

/// The numbers of the whole path, in the order of the summary.
std::vector<Variable> scalar_quantities();

}  // namespace hesscope::detail
