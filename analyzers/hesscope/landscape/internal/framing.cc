// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/landscape/internal/framing.h>

namespace hesscope::detail {
namespace {

constexpr double kMargin = 0.1;  // of the extent

// Whether an axis can reach this position; false for NaN.
bool is_within_reach(const Plane::Projection& place) {
  constexpr double kLargest = 1e99;  // make_axis() takes ten times that
  return std::abs(place.alpha) <= kLargest && std::abs(place.beta) <= kLargest;
}

// The ends of an axis around all positions within reach.
Span span_around(std::span<const Plane::Projection> places, double Plane::Projection::*coordinate) {
  Span span{kInfinity, -kInfinity};
  for (const Plane::Projection& place : places) {
    if (!is_within_reach(place)) continue;
    span.first = std::min(span.first, place.*coordinate);
    span.last = std::max(span.last, place.*coordinate);
  }
  const double margin = span.last > span.first ? kMargin * (span.last - span.first) : 1;
  return {span.first - margin, span.last + margin};
}

bool is_outside(const Eigen::VectorXd& axis, double value) {
  return axis.size() > 1 && !(value >= axis[0] && value <= axis[axis.size() - 1]);
}

}  // namespace

std::vector<Plane::Projection> places_on(const Plane& plane,
                                         std::span<const Eigen::VectorXd> points) {
  std::vector<Plane::Projection> places;
  for (const Eigen::VectorXd& point : points) places.push_back(plane.project(point));
  return places;
}

Grid framed(const Grid& size, std::span<const Plane::Projection> places) {
  if (std::none_of(places.begin(), places.end(), is_within_reach)) return size;
  Grid grid = size;
  const auto frame = [places](Eigen::VectorXd& axis, double Plane::Projection::*coordinate) {
    if (axis.size() > 1) axis = make_axis(axis.size(), span_around(places, coordinate));
  };
  frame(grid.alpha, &Plane::Projection::alpha);
  frame(grid.beta, &Plane::Projection::beta);
  return grid;
}

std::string left_out_text(const Grid& grid, std::span<const Plane::Projection> places) {
  const auto num_outside =
      std::count_if(places.begin(), places.end(), [&grid](const Plane::Projection& place) {
        return is_within_reach(place) &&
               (is_outside(grid.alpha, place.alpha) || is_outside(grid.beta, place.beta));
      });
  if (num_outside == 0) return {};
  const auto span_text = [places](const Eigen::VectorXd& axis,
                                  double Plane::Projection::*coordinate) {
    const Span span = axis.size() > 1 ? span_around(places, coordinate) : Span{axis[0], axis[0]};
    // The centre is among them, so three digits are far finer than the margin.
    return fmt::format("{:.3g}:{:.3g}", span.first, span.last);
  };
  return fmt::format("{} of {} checkpoints {} outside of the grid; `span` {},{} shows all of them",
                     num_outside,
                     places.size(),
                     num_outside == 1 ? "lies" : "lie",
                     span_text(grid.alpha, &Plane::Projection::alpha),
                     span_text(grid.beta, &Plane::Projection::beta));
}

}  // namespace hesscope::detail
