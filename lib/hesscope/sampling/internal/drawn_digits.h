// SPDX-License-Identifier: BSD-3-Clause
//
// Pictures of two digits for those who have no image files at hand.
#pragma once

#include <cstdint>

#include <hesscope/sampling/noisy_images.h>

namespace hesscope::detail {

/// Pictures of 28 x 28 pixels, in turn of a ring (label 0) and of a stroke (label 1), each of
/// another place, size, slant and width. They are of nobody's data set: rough stand-ins for two
/// digits of MNIST, always the same ones.
/// @cost some 20 operations a pixel.
LabeledImages drawn_digits(std::int64_t count);

}  // namespace hesscope::detail
