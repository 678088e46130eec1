// SPDX-License-Identifier: BSD-3-Clause
//
// How the entries of a resized axis are computed from the original ones: by selection, or by
// weights.
//
// Definition: ONNX's operator Resize, https://onnx.ai/onnx/operators/onnx__Resize.html
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Core>

namespace hesscope::onnx {

/// The length of an axis before and after.
struct ResizedAxis {
  std::int64_t from = 1;
  std::int64_t to = 1;
  double scale = 1;      ///< to / from, up to rounding
  double roi_begin = 0;  ///< kCropAndResize: the visible part, relative to the whole
  double roi_end = 1;
};

/// The position on the original axis to which an entry of the new one corresponds.
enum class Coordinates {
  kAlignCorners,
  kAsymmetric,
  kCropAndResize,
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kTensorflowHalfPixel,  ///< "tf_half_pixel_for_nn", only in opset 11
};

enum class Rounding {
  kCeil,
  kFloor,
  kPreferCeil,   ///< to the nearest, halves up
  kPreferFloor,  ///< to the nearest, halves down
  kOfOpset10,    ///< down; up if the axis shrinks
};

struct Filter {
  bool is_cubic = false;  ///< otherwise linear
  double cubic_a = -0.75;
  bool excludes_outside = false;  ///< places beyond the ends weigh 0; else the ends replace them
  bool is_antialiased = false;    ///< stretched if the axis shrinks
};

/// The position of entry `at` of the new axis on the original one. NaN outside it for
/// kCropAndResize.
double coordinate_of(const ResizedAxis& axis, Coordinates coordinates, std::int64_t at);

/// For each new entry, the original one that it copies; -1 outside, for kCropAndResize.
std::vector<std::int64_t> nearest_entries(const ResizedAxis& axis,
                                          Coordinates coordinates,
                                          Rounding rounding);

/// W with new = W old, of size to x from; rows of zeros outside, for kCropAndResize.
Eigen::MatrixXd interpolation_weights(const ResizedAxis& axis,
                                      Coordinates coordinates,
                                      const Filter& filter);

}  // namespace hesscope::onnx
