// SPDX-License-Identifier: BSD-3-Clause
//
// Pictures of two digits for users without image files.
#pragma once

#include <cstdint>

#include <hesscope/sampling/noisy_images.h>

namespace hesscope::detail {

/// Pictures of 28 x 28 pixels, alternately of a ring (label 0) and of a stroke (label 1), each with
/// its own position, size, slant and width. They come from no data set: rough replacements for two
/// digits of MNIST, always the same ones.
/// @cost about 20 operations per pixel.
LabeledImages drawn_digits(std::int64_t count);

}  // namespace hesscope::detail
