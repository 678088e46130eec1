// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <hesscope/core/eigen.h>
#include <hesscope/objective/objective.h>
#include <hesscope/paths/elastic_band.h>

namespace hesscope::detail {

/// A place where the loss along a band rises before and falls behind.
struct BandMaximum {
  Eigen::VectorXd theta;
  double loss;
  double arc_length;
  double spacing;  ///< length of the longest straight piece that it is on, or between
};

/// Those that are higher than both ends beyond rounding, 1e-14 of both losses, the highest first:
/// of the images and of the straight pieces between them. Images of a coarse band may lie on both
/// sides of a pass, which slopes along the band tell of and losses do not.
/// @pre    state.losses are finite; losses met between images that are not end the search of their
///         piece.
/// @cost   a gradient for each image, and some 50 for each maximum between two.
/// @source G. Henkelman, B. Uberuaga & H. Jonsson (2000), J. Chem. Phys. 113, 9901-9904
///         (interpolation between images by slopes; here the loss itself is followed).
std::vector<BandMaximum> band_maxima(const Objective& objective, const BandState& state);

}  // namespace hesscope::detail
