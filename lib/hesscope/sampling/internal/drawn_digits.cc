// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <hesscope/sampling/internal/drawn_digits.h>
#include <hesscope/sampling/random_stream.h>

namespace hesscope::detail {
namespace {

constexpr std::int64_t kSize = 28;

// Distances are in pixels, from the middle of a pixel to the line that the pen follows.
struct Pen {
  double x;
  double y;
  double slant;  // x' = x - slant * y
  double half_height;
  double half_width;  // of a ring
  double half_thickness;
};

double between(RandomStream& random, double low, double high) {
  return low + (high - low) * random.uniform();
}

// Along the gradient of |(x / a, y / b)|, to first order.
double distance_to_ring(const Pen& pen, double x, double y) {
  const double u = x / pen.half_width;
  const double v = y / pen.half_height;
  const double radius = std::hypot(u, v);
  const double slope = std::hypot(u / pen.half_width, v / pen.half_height);
  return slope > 0 ? std::abs(radius - 1) * radius / slope : pen.half_width;
}

double distance_to_stroke(const Pen& pen, double x, double y) {
  return std::hypot(x, std::max(0.0, std::abs(y) - pen.half_height));
}

}  // namespace

LabeledImages drawn_digits(std::int64_t count) {
  LabeledImages all{.rows = kSize, .cols = kSize, .pixels = {}, .labels = {}};
  for (std::int64_t i = 0; i < count; ++i) {
    RandomStream random(0, Stream::kTask, static_cast<std::uint64_t>(i));
    const double middle = (kSize - 1) / 2.0;
    const Pen pen = {.x = middle + between(random, -2, 2),
                     .y = middle + between(random, -2, 2),
                     .slant = between(random, -0.3, 0.3),
                     .half_height = between(random, 7, 9.5),
                     .half_width = between(random, 4, 7),
                     .half_thickness = between(random, 0.8, 1.8)};
    const bool is_ring = i % 2 == 0;
    for (std::int64_t row = 0; row < kSize; ++row) {
      for (std::int64_t col = 0; col < kSize; ++col) {
        const double y = static_cast<double>(row) - pen.y;
        const double x = static_cast<double>(col) - pen.x - pen.slant * y;
        const double distance =
            is_ring ? distance_to_ring(pen, x, y) : distance_to_stroke(pen, x, y);
        const double ink = std::clamp(pen.half_thickness + 0.5 - distance, 0.0, 1.0);
        all.pixels.push_back(static_cast<std::uint8_t>(std::lround(255 * ink)));
      }
    }
    all.labels.push_back(is_ring ? 0 : 1);
  }
  return all;
}

}  // namespace hesscope::detail
