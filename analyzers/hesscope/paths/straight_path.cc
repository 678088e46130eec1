// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/paths/straight_path.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// Relative, of differences between losses.
constexpr double kChordRounding = 1e-14;

// Of places, all in [0, 1].
constexpr double kPlaceRounding = 0x1p-54;

// How far the loss is above the chord of its ends.
class Excess {
 public:
  struct Point {
    double place;
    double value;
    double slope;
  };

  Excess(const Objective& objective,
         const VectorXd& first,
         const VectorXd& second,
         double loss_at_0,
         double loss_at_1)
      : objective_(objective),
        first_(first),
        second_(second),
        loss_at_0_(loss_at_0),
        loss_at_1_(loss_at_1) {}

  Point at(double t) const {
    const VectorXd theta = t == 1 ? second_ : VectorXd(first_ + t * (second_ - first_));
    const auto found = objective_.value_and_gradient(theta, objective_.all_samples());
    return above_chord({t, found.value, found.gradient.dot(second_ - first_)});
  }

  // Of the loss itself.
  Point above_chord(const Point& loss) const {
    const double rise = loss_at_1_ - loss_at_0_;
    return {loss.place, loss.value - (loss_at_0_ + loss.place * rise), loss.slope - rise};
  }

  // A maximum between neighbouring places, the higher one that rises towards the other; none where
  // neither values nor slopes tell of one.
  std::optional<Point> highest(const Point& before, const Point& after) const {
    const bool rises = before.slope > 0 && (after.slope < 0 || after.value < before.value);
    const bool falls = after.slope < 0 && (before.slope > 0 || before.value < after.value);
    if (rises && (!falls || before.value >= after.value)) return climb(before, after.place);
    if (falls) return climb(after, before.place);
    return std::nullopt;
  }

 private:
  // The maximum between `uphill`, which rises towards `end`, and `end`, before which it falls again,
  // or which is lower.
  Point climb(Point uphill, double end) const {
    const bool is_after = end > uphill.place;
    while (true) {
      const double half = uphill.place + (end - uphill.place) / 2;
      if (std::abs(half - uphill.place) < kPlaceRounding || half == end) return uphill;
      const Point next = at(half);
      const bool rises_on = is_after ? next.slope > 0 : next.slope < 0;
      // Near the top values differ by rounding alone, and slopes still tell.
      const double rounding = kChordRounding * (std::abs(loss_at_0_) + std::abs(next.value));
      if (rises_on && next.value >= uphill.value - rounding) {
        uphill = next;
      } else if (std::isfinite(next.value)) {
        end = half;
      } else {
        return next;
      }
    }
  }

  const Objective& objective_;
  const VectorXd& first_;
  const VectorXd& second_;
  double loss_at_0_;
  double loss_at_1_;
};

}  // namespace

StraightPath straight_path(const Objective& objective,
                           const Eigen::Ref<const VectorXd>& first,
                           const Eigen::Ref<const VectorXd>& second,
                           Index num_places) {
  const Index n = objective.num_parameters();
  if (first.size() != n || second.size() != n || num_places < 2) {
    throw PreconditionError(fmt::format(
        "straight_path: expected two points of {} numbers and at least 2 places, got {}, {} and {}",
        n,
        first.size(),
        second.size(),
        num_places));
  }
  const VectorXd begin = first;
  const VectorXd end = second;
  StraightPath path{.places = VectorXd::LinSpaced(num_places, 0, 1),
                    .losses = VectorXd(num_places)};
  const Excess of_loss(objective, begin, end, 0, 0);
  std::vector<Excess::Point> points;
  for (Index i = 0; i < num_places; ++i) {
    points.push_back(of_loss.at(path.places[i]));
    path.losses[i] = points.back().value;
  }
  path.status = path.losses.allFinite() ? Status::kOk : Status::kNonFinite;
  if (path.status != Status::kOk) return path;
  const Excess excess(objective, begin, end, path.losses[0], path.losses[num_places - 1]);
  for (Excess::Point& point : points) point = excess.above_chord(point);
  points.front().value = points.back().value = 0;
  path.barrier = path.barrier_place = 0;
  const auto raise = [&path](const Excess::Point& top) {
    if (!(top.value > path.barrier)) return;
    path.barrier = top.value;
    path.barrier_place = top.place;
  };
  for (std::size_t i = 1; i < points.size(); ++i) {
    const std::optional<Excess::Point> top = excess.highest(points[i - 1], points[i]);
    if (!top) continue;
    if (!std::isfinite(top->value)) {
      path.status = Status::kNonFinite;
      path.barrier = path.barrier_place = kNaN;
      return path;
    }
    raise(*top);
  }
  for (const Excess::Point& point : points) raise(point);
  return path;
}

}  // namespace hesscope
