// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analyzers/smoothness_fit.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/random_numbers.h>
#include <hesscope/core/internal/wide.h>
#include <hesscope/spectra/internal/jackknife.h>

namespace hesscope {
namespace {

using detail::Wide;

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

// Relative to the first value, so that the mean of equal values is their value.
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

// The upper convex hull of the points and the origin, from left to right, up to the first highest
// point.
std::vector<Point> rising_hull(std::vector<Point> points) {
  points.push_back({0, 0});
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return a.x != b.x ? a.x < b.x : a.y > b.y;
  });
  std::vector<Point> hull;
  for (const Point& point : points) {
    // Skips a point below another with the same x, or to the right of one that is as high.
    if (!hull.empty() && point.y <= hull.back().y) continue;
    while (hull.size() >= 2 && !is_above(hull[hull.size() - 2], hull.back(), point)) {
      hull.pop_back();
    }
    hull.push_back(point);
  }
  return hull;
}

void require_not_negative(const char* function,
                          std::span<const double> x,
                          std::span<const double> y) {
  for (const std::span<const double> values : {x, y}) {
    const double lowest = *std::min_element(values.begin(), values.end());
    if (lowest < 0) {
      throw PreconditionError(
          fmt::format("{}: x and y must not be negative, got {}", function, lowest));
    }
  }
}

double unit_of(std::span<const double> values) {
  const double largest = *std::max_element(values.begin(), values.end());
  return largest > 0 ? largest : 1.0;
}

// The quantile q of sorted values, interpolated linearly between order statistics.
double quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

void require_options(const char* function, const BootstrapOptions& options) {
  if (options.num_resamples < 1 || !(options.level > 0 && options.level < 1)) {
    throw PreconditionError(
        fmt::format("{}: needs at least 1 sample and a level in (0, 1), got {} and {}",
                    function,
                    options.num_resamples,
                    options.level));
  }
}

// The quantiles `tail` and 1 - tail of fits to resampled points.
LineIntervals percentiles(std::span<const double> x,
                          std::span<const double> y,
                          const LineFitter& fit,
                          double tail,
                          const BootstrapOptions& options) {
  std::mt19937_64 engine(options.seed);
  std::vector<double> sample_x(x.size());
  std::vector<double> sample_y(x.size());
  std::vector<double> l0;
  std::vector<double> l1;
  for (std::int64_t s = 0; s < options.num_resamples; ++s) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t k = detail::random_index(engine, x.size());
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
  intervals.l0_lower = quantile(l0, tail);
  intervals.l0_upper = quantile(l0, 1 - tail);
  intervals.l1_lower = quantile(l1, tail);
  intervals.l1_upper = quantile(l1, 1 - tail);
  return intervals;
}

LineIntervals too_few_points() {
  LineIntervals none;
  none.status = Status::kUndefinedTooFewPoints;
  return none;
}

// Applies the constraint to the interval of a constant: `free` is its estimate without the
// constraint.
void constrain(double free, double estimate, double& lower, double& upper) {
  if (free < 0) upper -= free;
  lower = std::min(std::max(lower, 0.0), estimate);
  upper = std::max(upper, estimate);
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
  if (!(*highest - *lowest > 8 * kEpsilon * magnitude)) {
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
  const Wide slope = Wide(products) / squares / scale;
  line.l1 = slope.value();
  line.l0 = (mean_y - slope * mean_x).value();
  line.status = std::isfinite(line.l0) && std::isfinite(line.l1) ? Status::kOk : Status::kNonFinite;
  return line;
}

SmoothnessLine nonnegative_line(std::span<const double> x, std::span<const double> y) {
  SmoothnessLine line = least_squares_line(x, y);
  if (line.status == Status::kNonFinite && !(is_finite(x) && is_finite(y))) return line;
  require_not_negative("nonnegative_line", x, y);
  // The sum of squares is convex: if its unconstrained minimum is outside of one bound, the
  // constrained minimum is on that bound. No mean of y is negative, so only one bound can be
  // violated.
  if (line.l1 < 0) {
    line.l0 = mean(y);
    line.l1 = 0;
  } else if (line.l0 < 0) {
    const double unit = unit_of(x);
    Wide squares;
    Wide products;
    for (std::size_t i = 0; i < x.size(); ++i) {
      squares += (x[i] / unit) * (x[i] / unit);
      products += Wide(x[i] / unit) * y[i];
    }
    line.l0 = 0;
    line.l1 = (products / squares / unit).value();
  }
  return line;
}

SmoothnessLine tightest_line(std::span<const double> x, std::span<const double> y) {
  require_points("tightest_line", x, y);
  SmoothnessLine line;
  if (!is_finite(x) || !is_finite(y)) {
    line.status = Status::kNonFinite;
    return line;
  }
  require_not_negative("tightest_line", x, y);
  // In units of the largest value, so that no product overflows or underflows.
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
  line.l1 = (slope * (Wide(unit_y) / unit_x)).value();
  return line;
}

LineIntervals bootstrap_intervals(std::span<const double> x,
                                  std::span<const double> y,
                                  const LineFitter& fit,
                                  const BootstrapOptions& options) {
  require_points("bootstrap_intervals", x, y);
  require_options("bootstrap_intervals", options);
  if (x.size() < kFewestPointsOfIntervals) return too_few_points();
  return percentiles(x, y, fit, (1 - options.level) / 2, options);
}

LineIntervals nonnegative_intervals(std::span<const double> x,
                                    std::span<const double> y,
                                    const BootstrapOptions& options) {
  const SmoothnessLine estimate = nonnegative_line(x, y);
  require_options("nonnegative_intervals", options);
  if (x.size() < kFewestPointsOfIntervals) return too_few_points();
  LineIntervals intervals;
  if (estimate.status != Status::kOk) {
    intervals.status = estimate.status;
    return intervals;
  }
  const auto m = static_cast<double>(x.size());
  const double z = std::sqrt(m / (m - 2)) *
                   detail::two_sided_t(options.level, static_cast<double>(x.size()) - 2);
  const double tail = std::erfc(z / std::numbers::sqrt2) / 2;
  intervals = percentiles(x, y, least_squares_line, tail, options);
  if (intervals.status != Status::kOk) return intervals;
  const SmoothnessLine free = least_squares_line(x, y);
  constrain(free.l0, estimate.l0, intervals.l0_lower, intervals.l0_upper);
  constrain(free.l1, estimate.l1, intervals.l1_lower, intervals.l1_upper);
  return intervals;
}

}  // namespace hesscope
