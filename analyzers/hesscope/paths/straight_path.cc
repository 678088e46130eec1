// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/paths/internal/line_excess.h>
#include <hesscope/paths/straight_path.h>

namespace hesscope {

using detail::LineExcess;
using Eigen::Index;
using Eigen::VectorXd;

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
  const LineExcess of_loss(objective, begin, end, 0, 0);
  std::vector<LineExcess::Point> points;
  for (Index i = 0; i < num_places; ++i) {
    points.push_back(of_loss.at(path.places[i]));
    path.losses[i] = points.back().value;
  }
  path.status = path.losses.allFinite() ? Status::kOk : Status::kNonFinite;
  if (path.status != Status::kOk) return path;
  const LineExcess excess(objective, begin, end, path.losses[0], path.losses[num_places - 1]);
  for (LineExcess::Point& point : points) point = excess.above_line(point);
  points.front().value = points.back().value = 0;
  path.barrier = path.barrier_place = 0;
  const auto raise = [&path](const LineExcess::Point& top) {
    if (!(top.value > path.barrier)) return;
    path.barrier = top.value;
    path.barrier_place = top.place;
  };
  for (std::size_t i = 1; i < points.size(); ++i) {
    const std::optional<LineExcess::Point> top = excess.highest(points[i - 1], points[i]);
    if (!top) continue;
    if (!std::isfinite(top->value)) {
      path.status = Status::kNonFinite;
      path.barrier = path.barrier_place = kNaN;
      return path;
    }
    raise(*top);
  }
  for (const LineExcess::Point& point : points) raise(point);
  return path;
}

}  // namespace hesscope
