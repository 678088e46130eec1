// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analyzers/smoothness_fit.h>
#include <hesscope/core/error.h>

namespace hesscope {
namespace {

void require_points(const char* function, std::span<const double> x, std::span<const double> y) {
  if (x.empty() || x.size() != y.size()) {
    throw PreconditionError(
        fmt::format("{}: x and y must have one size of at least 1, got {} and {}",
                    function,
                    x.size(),
                    y.size()));
  }
}

bool is_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

// Relative to the first, so that the mean of equal values is their value.
double mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value - values[0];
  return values[0] + sum / static_cast<double>(values.size());
}

struct Point {
  double x;
  double y;
};

// Whether b lies above the line from a to c, all in ascending order of x.
bool is_above(const Point& a, const Point& b, const Point& c) {
  return (b.y - a.y) * (c.x - a.x) > (c.y - a.y) * (b.x - a.x);
}

// The upper convex hull of points and the origin, from left to right up to the first highest point.
std::vector<Point> rising_hull(std::vector<Point> points) {
  points.push_back({0, 0});
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return a.x != b.x ? a.x < b.x : a.y > b.y;
  });
  std::vector<Point> hull;
  for (const Point& point : points) {
    // Neither below another of the same x, nor right of one as high.
    if (!hull.empty() && point.y <= hull.back().y) continue;
    while (hull.size() >= 2 && !is_above(hull[hull.size() - 2], hull.back(), point)) {
      hull.pop_back();
    }
    hull.push_back(point);
  }
  return hull;
}

// The quantile q of sorted values, interpolated linearly between order statistics.
double quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// Uniform in [0, size): values beyond the last whole multiple of it are drawn again.
std::size_t draw_index(std::mt19937_64& engine, std::size_t size) {
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % size;
  std::uint64_t value = engine();
  while (value >= limit) value = engine();
  return value % size;
}

}  // namespace

SmoothnessLine least_squares_line(std::span<const double> x, std::span<const double> y) {
  require_points("least_squares_line", x, y);
  SmoothnessLine line;
  if (!is_finite(x) || !is_finite(y)) {
    line.status = Status::kNonFinite;
    return line;
  }
  const auto [lowest, highest] = std::minmax_element(x.begin(), x.end());
  const double magnitude = std::max(std::abs(*lowest), std::abs(*highest));
  if (!(*highest - *lowest > 8 * std::numeric_limits<double>::epsilon() * magnitude)) {
    line.status = Status::kUndefinedZeroDenominator;
    return line;
  }
  const double mean_x = mean(x);
  const double mean_y = mean(y);
  const double scale = *highest - *lowest;  // so that no square overflows or underflows
  double squares = 0;
  double products = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = (x[i] - mean_x) / scale;
    squares += dx * dx;
    products += dx * (y[i] - mean_y);
  }
  line.l1 = products / squares / scale;
  line.l0 = mean_y - line.l1 * mean_x;
  line.status = std::isfinite(line.l0) && std::isfinite(line.l1) ? Status::kOk : Status::kNonFinite;
  return line;
}

SmoothnessLine tightest_line(std::span<const double> x, std::span<const double> y) {
  require_points("tightest_line", x, y);
  SmoothnessLine line;
  if (!is_finite(x) || !is_finite(y)) {
    line.status = Status::kNonFinite;
    return line;
  }
  for (const std::span<const double> values : {x, y}) {
    const double lowest = *std::min_element(values.begin(), values.end());
    if (lowest < 0) {
      throw PreconditionError(
          fmt::format("tightest_line: x and y must not be negative, got {}", lowest));
    }
  }
  // In units of the largest, so that no product overflows or underflows.
  const auto unit_of = [](std::span<const double> values) {
    const double largest = *std::max_element(values.begin(), values.end());
    return largest > 0 ? largest : 1.0;
  };
  const double unit_x = unit_of(x);
  const double unit_y = unit_of(y);
  std::vector<Point> points;
  for (std::size_t i = 0; i < x.size(); ++i) points.push_back({x[i] / unit_x, y[i] / unit_y});
  const double at = mean(x) / unit_x;
  const std::vector<Point> hull = rising_hull(std::move(points));
  line.status = Status::kOk;
  line.l0 = hull.back().y * unit_y;
  line.l1 = 0;
  const auto right = std::upper_bound(
      hull.begin(), hull.end(), at, [](double value, const Point& p) { return value < p.x; });
  if (right == hull.end()) return line;
  const Point& a = *(right - 1);  // the hull begins at x = 0 <= at
  const double slope = (right->y - a.y) / (right->x - a.x);
  line.l0 = std::max(0.0, a.y - slope * a.x) * unit_y;
  line.l1 = slope * (unit_y / unit_x);
  return line;
}

LineIntervals bootstrap_intervals(std::span<const double> x,
                                  std::span<const double> y,
                                  const LineFit& fit,
                                  const BootstrapOptions& options) {
  require_points("bootstrap_intervals", x, y);
  if (options.num_resamples < 1 || !(options.level > 0 && options.level < 1)) {
    throw PreconditionError(
        fmt::format("bootstrap_intervals: needs at least 1 sample and a level in (0, 1), got {} "
                    "and {}",
                    options.num_resamples,
                    options.level));
  }
  std::mt19937_64 engine(options.seed);
  std::vector<double> sample_x(x.size());
  std::vector<double> sample_y(x.size());
  std::vector<double> l0;
  std::vector<double> l1;
  for (std::int64_t s = 0; s < options.num_resamples; ++s) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t k = draw_index(engine, x.size());
      sample_x[i] = x[k];
      sample_y[i] = y[k];
    }
    const SmoothnessLine line = fit(sample_x, sample_y);
    if (line.status != Status::kOk) continue;
    l0.push_back(line.l0);
    l1.push_back(line.l1);
  }
  LineIntervals intervals;
  intervals.status = Status::kUndefinedZeroDenominator;
  if (2 * static_cast<std::int64_t>(l0.size()) < options.num_resamples) return intervals;
  intervals.status = Status::kOk;
  std::sort(l0.begin(), l0.end());
  std::sort(l1.begin(), l1.end());
  const double tail = (1 - options.level) / 2;
  intervals.l0_lower = quantile(l0, tail);
  intervals.l0_upper = quantile(l0, 1 - tail);
  intervals.l1_lower = quantile(l1, tail);
  intervals.l1_upper = quantile(l1, 1 - tail);
  return intervals;
}

}  // namespace hesscope
