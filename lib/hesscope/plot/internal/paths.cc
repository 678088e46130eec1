// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include <hesscope/plot/internal/paths.h>

namespace hesscope::plot {
namespace {

Point between(const Point& a, const Point& b, double t) {
  return {a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
}

// The ends of [0, 1] along a-b within the box (Liang & Barsky 1984); none if it misses.
std::optional<std::pair<double, double>> span_within(const Point& a,
                                                     const Point& b,
                                                     const Box& box) {
  double start = 0;
  double end = 1;
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const std::array<std::pair<double, double>, 4> sides = {{{-dx, a.x - box.left},
                                                           {dx, box.right() - a.x},
                                                           {-dy, a.y - box.top},
                                                           {dy, box.bottom() - a.y}}};
  for (const auto& [direction, distance] : sides) {
    if (direction == 0) {
      if (distance < 0) return std::nullopt;
    } else if (direction < 0) {
      start = std::max(start, distance / direction);
    } else {
      end = std::min(end, distance / direction);
    }
  }
  if (start > end) return std::nullopt;
  return std::pair(start, end);
}

// Rounding may put an intersection slightly outside.
Point pulled_in(const Point& p, const Box& box) {
  return {std::clamp(p.x, box.left, box.right()), std::clamp(p.y, box.top, box.bottom())};
}

// Sutherland & Hodgman (1974), one side: `depth` is positive inside.
Polyline cut(const Polyline& polygon, const std::function<double(const Point&)>& depth) {
  Polyline result;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Point& here = polygon[i];
    const Point& next = polygon[(i + 1) % polygon.size()];
    const double d = depth(here);
    const double d_next = depth(next);
    if (d >= 0) result.push_back(here);
    if ((d >= 0) != (d_next >= 0)) result.push_back(between(here, next, d / (d - d_next)));
  }
  return result;
}

}  // namespace

std::vector<Polyline> clip_line(const Polyline& line, const Box& box) {
  std::vector<Polyline> parts;
  if (line.size() == 1 && box.contains(line.front())) return {line};
  Polyline part;
  const auto flush = [&] {
    if (part.size() > 1) parts.push_back(std::move(part));
    part.clear();
  };
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const auto span = span_within(line[i], line[i + 1], box);
    if (!span) {
      flush();
      continue;
    }
    const auto [start, end] = *span;
    if (part.empty() || start > 0) {
      flush();
      part.push_back(pulled_in(between(line[i], line[i + 1], start), box));
    }
    part.push_back(end < 1 ? pulled_in(between(line[i], line[i + 1], end), box) : line[i + 1]);
    if (end < 1) flush();
  }
  flush();
  return parts;
}

Polyline clip_polygon(const Polyline& polygon, const Box& box) {
  Polyline result = cut(polygon, [&](const Point& p) { return p.x - box.left; });
  result = cut(result, [&](const Point& p) { return box.right() - p.x; });
  result = cut(result, [&](const Point& p) { return p.y - box.top; });
  result = cut(result, [&](const Point& p) { return box.bottom() - p.y; });
  for (Point& p : result) p = pulled_in(p, box);
  return result;
}

Polyline thinned(const Polyline& line) {
  constexpr double kColumn = 0.5;
  constexpr std::size_t kKept = 4;
  const auto column = [&](std::size_t i) { return std::floor(line[i].x / kColumn); };
  Polyline result;
  for (std::size_t first = 0; first < line.size();) {
    std::size_t end = first + 1;
    std::size_t lowest = first;
    std::size_t highest = first;
    while (end < line.size() && column(end) == column(first)) {
      if (line[end].y < line[lowest].y) lowest = end;
      if (line[end].y > line[highest].y) highest = end;
      ++end;
    }
    if (end - first <= kKept) {
      result.insert(result.end(),
                    line.begin() + static_cast<std::ptrdiff_t>(first),
                    line.begin() + static_cast<std::ptrdiff_t>(end));
    } else {
      std::array<std::size_t, kKept> kept = {first, lowest, highest, end - 1};
      std::sort(kept.begin(), kept.end());
      const auto last = std::unique(kept.begin(), kept.end());
      for (auto k = kept.begin(); k != last; ++k) result.push_back(line[*k]);
    }
    first = end;
  }
  return result;
}

}  // namespace hesscope::plot
