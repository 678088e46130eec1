// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <hesscope/paths/internal/line_excess.h>

namespace hesscope::detail {
namespace {

using Eigen::VectorXd;

// Rounding of positions, which are all in [0, 1].
constexpr double kPlaceRounding = 0x1p-54;

}  // namespace

VectorXd LineExcess::theta(double t) const {
  return t == 1 ? second_ : VectorXd(first_ + t * (second_ - first_));
}

LineExcess::Point LineExcess::at(double t) const {
  const auto found = objective_.value_and_gradient(theta(t), objective_.all_samples());
  return above_line({t, found.value, found.gradient.dot(second_ - first_)});
}

LineExcess::Point LineExcess::above_line(const Point& loss) const {
  const double rise = line_at_1_ - line_at_0_;
  return {loss.place, loss.value - (line_at_0_ + loss.place * rise), loss.slope - rise};
}

std::optional<LineExcess::Point> LineExcess::highest(const Point& before,
                                                     const Point& after) const {
  const bool rises = before.slope > 0 && (after.slope < 0 || after.value < before.value);
  const bool falls = after.slope < 0 && (before.slope > 0 || before.value < after.value);
  if (rises && (!falls || before.value >= after.value)) return climb(before, after.place);
  if (falls) return climb(after, before.place);
  return std::nullopt;
}

// The maximum between `uphill`, which rises towards `end`, and `end`, before which the loss falls
// again or which is lower.
LineExcess::Point LineExcess::climb(Point uphill, double end) const {
  const bool is_after = end > uphill.place;
  while (true) {
    const double half = uphill.place + (end - uphill.place) / 2;
    if (std::abs(half - uphill.place) < kPlaceRounding || half == end) return uphill;
    const Point next = at(half);
    const bool rises_on = is_after ? next.slope > 0 : next.slope < 0;
    // Near the top, values differ only by rounding, but slopes still show the direction.
    const double rounding = kLossRounding * (std::abs(line_at_0_) + std::abs(next.value));
    if (rises_on && next.value >= uphill.value - rounding) {
      uphill = next;
    } else if (std::isfinite(next.value)) {
      end = half;
    } else {
      return next;
    }
  }
}

}  // namespace hesscope::detail
