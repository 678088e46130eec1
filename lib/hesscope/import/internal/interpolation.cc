// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include <hesscope/import/internal/interpolation.h>

namespace hesscope::onnx {
namespace {

double cropped_coordinate(const ResizedAxis& axis, double x) {
  const auto last = static_cast<double>(axis.from - 1);
  // Exact to the last bit at the ends, beyond which there is nothing.
  const double part = axis.to > 1 ? x / static_cast<double>(axis.to - 1) : 0.5;
  const double at = std::lerp(axis.roi_begin, axis.roi_end, part) * last;
  return at < 0 || at > last ? std::numeric_limits<double>::quiet_NaN() : at;
}

double rounded(double at, Rounding rounding, double scale) {
  switch (rounding) {
    case Rounding::kCeil:
      return std::ceil(at);
    case Rounding::kFloor:
      return std::floor(at);
    case Rounding::kPreferCeil:
      return std::floor(at + 0.5);
    case Rounding::kPreferFloor:
      return std::ceil(at - 0.5);
    case Rounding::kOfOpset10:
      return scale < 1 ? std::ceil(at) : std::floor(at);
  }
  return at;
}

// The weight of an entry at distance t.
double weight_at(const Filter& filter, double t) {
  t = std::abs(t);
  if (!filter.is_cubic) return std::max(0.0, 1 - t);
  const double a = filter.cubic_a;
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  if (t < 2) return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a;
  return 0;
}

}  // namespace

double coordinate_of(const ResizedAxis& axis, Coordinates coordinates, std::int64_t at) {
  const auto x = static_cast<double>(at);
  const double half_pixel = (x + 0.5) / axis.scale - 0.5;
  switch (coordinates) {
    case Coordinates::kAlignCorners:
      // By lengths, as in the definition and in PyTorch; ONNX's reference uses scale * from as the
      // new length, which differs if that was rounded.
      return axis.to > 1 ? x * static_cast<double>(axis.from - 1) / static_cast<double>(axis.to - 1)
                         : 0;
    case Coordinates::kAsymmetric:
      return x / axis.scale;
    case Coordinates::kCropAndResize:
      return cropped_coordinate(axis, x);
    case Coordinates::kHalfPixel:
      return half_pixel;
    case Coordinates::kHalfPixelSymmetric: {
      // Centred if the new length was rounded.
      const auto from = static_cast<double>(axis.from);
      return from / 2 * (1 - static_cast<double>(axis.to) / (axis.scale * from)) + half_pixel;
    }
    case Coordinates::kPytorchHalfPixel:
      return axis.to > 1 ? half_pixel : 0;
    case Coordinates::kTensorflowHalfPixel:
      return (x + 0.5) / axis.scale;
  }
  return half_pixel;
}

std::vector<std::int64_t> nearest_entries(const ResizedAxis& axis,
                                          Coordinates coordinates,
                                          Rounding rounding) {
  std::vector<std::int64_t> entries;
  for (std::int64_t to = 0; to < axis.to; ++to) {
    const double at = coordinate_of(axis, coordinates, to);
    if (std::isnan(at)) {
      entries.push_back(-1);
      continue;
    }
    const double nearest =
        std::clamp(rounded(at, rounding, axis.scale), 0.0, static_cast<double>(axis.from - 1));
    entries.push_back(static_cast<std::int64_t>(nearest));
  }
  return entries;
}

Eigen::MatrixXd interpolation_weights(const ResizedAxis& axis,
                                      Coordinates coordinates,
                                      const Filter& filter) {
  const double shrinkage = filter.is_antialiased ? std::min(axis.scale, 1.0) : 1.0;
  const double support = (filter.is_cubic ? 2 : 1) / shrinkage;
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(axis.to, axis.from);
  for (Eigen::Index to = 0; to < axis.to; ++to) {
    const double at = coordinate_of(axis, coordinates, to);
    if (std::isnan(at)) continue;
    double total = 0;
    for (double from = std::floor(at - support); from <= std::ceil(at + support); ++from) {
      const double inside = std::clamp(from, 0.0, static_cast<double>(axis.from - 1));
      if (filter.excludes_outside && inside != from) continue;
      const double weight = weight_at(filter, shrinkage * (from - at));
      weights(to, static_cast<Eigen::Index>(inside)) += weight;
      total += weight;
    }
    if (filter.excludes_outside || filter.is_antialiased) weights.row(to) /= total;
  }
  return weights;
}

}  // namespace hesscope::onnx
