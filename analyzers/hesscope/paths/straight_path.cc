// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/paths/straight_path.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// Relative, of differences between losses.
constexpr double kChordRounding = 1e-14;

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

  VectorXd point(double t) const {
    return t == 1 ? second_ : VectorXd(first_ + t * (second_ - first_));
  }

  double of_loss(double loss, double t) const {
    return loss - (loss_at_0_ + t * (loss_at_1_ - loss_at_0_));
  }

  Point at(double t) const {
    const auto found = objective_.value_and_gradient(point(t), objective_.all_samples());
    return {t,
            of_loss(found.value, t),
            found.gradient.dot(second_ - first_) - (loss_at_1_ - loss_at_0_)};
  }

  // The maximum between `below` and `above`, both lower than `middle`.
  Point highest(double below, const Point& middle, double above) const {
    if (middle.slope == 0) return middle;
    const bool is_after = middle.slope > 0;
    // `uphill` rises towards `end`, before which it falls again, or which is lower.
    Point uphill = middle;
    double end = is_after ? above : below;
    while (true) {
      const double half = uphill.place + (end - uphill.place) / 2;
      if (half == uphill.place || half == end) return uphill;
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

 private:
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
  const Excess chord(objective, begin, end, 0, 0);
  for (Index i = 0; i < num_places; ++i) {
    path.losses[i] = objective.value(chord.point(path.places[i]));
  }
  path.status = path.losses.allFinite() ? Status::kOk : Status::kNonFinite;
  if (path.status != Status::kOk) return path;
  const Excess excess(objective, begin, end, path.losses[0], path.losses[num_places - 1]);
  Index highest = 0;
  path.barrier = 0;
  for (Index i = 1; i + 1 < num_places; ++i) {
    const double height = excess.of_loss(path.losses[i], path.places[i]);
    if (!(height > path.barrier)) continue;
    path.barrier = height;
    highest = i;
  }
  path.barrier_place = path.places[highest];
  if (highest == 0) return path;
  const Excess::Point top = excess.highest(
      path.places[highest - 1], excess.at(path.places[highest]), path.places[highest + 1]);
  if (!std::isfinite(top.value)) {
    path.status = Status::kNonFinite;
    path.barrier = path.barrier_place = kNaN;
  } else if (top.value >= path.barrier) {
    path.barrier = top.value;
    path.barrier_place = top.place;
  }
  return path;
}

}  // namespace hesscope
