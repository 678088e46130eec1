// SPDX-License-Identifier: BSD-3-Clause
//
// How the entries of a resized axis come from those it had: one each, or weights.
//
// Definition: ONNX's operator Resize, https://onnx.ai/onnx/operators/onnx__Resize.html
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Core>

namespace hesscope::onnx {

/// One axis before and after.
struct ResizedAxis {
  std::int64_t from = 1;
  std::int64_t to = 1;
  double scale = 1;      ///< to / from, but for rounding
  double roi_begin = 0;  ///< kCropAndResize: the part that is seen, as parts of the whole
  double roi_end = 1;
};

/// Which place of the old axis an entry of the new one stands for.
enum class Coordinates {
  kAlignCorners,
  kAsymmetric,
  kCropAndResize,
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kTensorflowHalfPixel,  ///< "tf_half_pixel_for_nn", of opset 11 alone
};

enum class Rounding {
  kCeil,
  kFloor,
  kPreferCeil,   ///< to the nearest, halves up
  kPreferFloor,  ///< to the nearest, halves down
  kOfOpset10,    ///< down; up where the axis shrinks
};

struct Filter {
  bool is_cubic = false;  ///< elsewise linear
  double cubic_a = -0.75;
  bool excludes_outside = false;  ///< places beyond the ends weigh nothing; else the ends stand in
  bool is_antialiased = false;    ///< stretched where the axis shrinks
};

/// Where entry `at` of the new axis lies on the old one. NaN outside of it for kCropAndResize.
double coordinate_of(const ResizedAxis& axis, Coordinates coordinates, std::int64_t at);

/// Which old entry each new one is; -1 outside, for kCropAndResize.
std::vector<std::int64_t> nearest_entries(const ResizedAxis& axis,
                                          Coordinates coordinates,
                                          Rounding rounding);

/// W with new = W old, to x from; rows of zeros outside, for kCropAndResize.
Eigen::MatrixXd interpolation_weights(const ResizedAxis& axis,
                                      Coordinates coordinates,
                                      const Filter& filter);

}  // namespace hesscope::onnx
