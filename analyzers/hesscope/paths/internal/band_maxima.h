// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <hesscope/core/eigen.h>
#include <hesscope/objective/objective.h>
#include <hesscope/paths/elastic_band.h>

namespace hesscope::detail {

/// A point where the loss along a band rises before and falls after it.
struct BandMaximum {
  Eigen::VectorXd theta;
  double loss;
  double arc_length;
  double spacing;  ///< length of the longest straight piece next to it, or that contains it
};

/// The maxima among the images and on the straight pieces between them that are higher than both
/// ends beyond rounding, 1e-14 of both losses; the highest comes first. Images of a coarse band may
/// lie on both sides of a pass; slopes along the band then reveal it, but losses do not.
/// @pre    state.losses are finite; a loss between images that is not finite ends the search on its
///         piece.
/// @cost   a gradient for each image, and some 50 for each maximum between two images.
/// @source G. Henkelman, B. Uberuaga & H. Jonsson (2000), J. Chem. Phys. 113, 9901-9904
///         (interpolation between images by slopes; here the loss itself is followed).
std::vector<BandMaximum> band_maxima(const Objective& objective, const BandState& state);

}  // namespace hesscope::detail
