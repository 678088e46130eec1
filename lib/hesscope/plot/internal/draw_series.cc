// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <hesscope/plot/internal/contour.h>
#include <hesscope/plot/internal/drawing.h>
#include <hesscope/plot/internal/paths.h>

namespace hesscope::plot {
namespace {

constexpr double kBandOpacity = 0.2;
constexpr double kBarTint = 0.5;  // of white

struct Pen {
  Canvas& canvas;
  const Panel& panel;
  const PanelPlan& plan;
  Colour colour;

  const Axes& axes() const { return plan.axes; }
};

// Unbroken stretches of points that have a place.
std::vector<Polyline> stretches(const Axes& axes,
                                const std::vector<double>& x,
                                const std::vector<double>& y) {
  std::vector<Polyline> result;
  bool is_open = false;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool is_there = axes.has_place(x[i], y[i]);
    if (is_there && !is_open) result.emplace_back();
    if (is_there) result.back().push_back(axes.at(x[i], y[i]));
    is_open = is_there;
  }
  return result;
}

Polyline stepped(const Polyline& line) {
  Polyline result;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (i > 0) result.push_back({line[i].x, line[i - 1].y});
    result.push_back(line[i]);
  }
  return result;
}

// Around uncertain points.
void draw_rings(const Pen& pen, const Line& line) {
  for (std::size_t i = 0; i < line.uncertain.size(); ++i) {
    if (!line.uncertain[i]) continue;
    if (!pen.axes().has_place(line.x[i], line.y[i])) continue;
    const Point at = pen.axes().at(line.x[i], line.y[i]);
    if (!pen.axes().box.contains(at)) continue;
    pen.canvas.circle(at, 2.8, pen.colour);
    pen.canvas.circle(at, 1.8, kWhite);
  }
}

void draw(const Pen& pen, const Line& line) {
  const Box& box = pen.axes().box;
  std::vector<Polyline> parts;
  std::vector<Point> dots;
  for (const Polyline& stretch : stretches(pen.axes(), line.x, line.y)) {
    const Polyline path = thinned(line.steps ? stepped(stretch) : stretch);
    if (line.markers) {
      for (const Point& p : stretch) {
        if (box.contains(p)) dots.push_back(p);
      }
    } else if (stretch.size() == 1 && box.contains(stretch.front())) {
      dots.push_back(stretch.front());  // a single point between gaps is not a line
    }
    for (Polyline& part : clip_line(path, box)) {
      if (part.size() > 1) parts.push_back(std::move(part));
    }
  }
  pen.canvas.lines(parts, {pen.colour, line.width, line.dash});
  const double radius = line.markers ? 1.8 : line.width * 0.8;
  for (const Point& dot : dots) pen.canvas.circle(dot, radius, pen.colour, 1, line.markers);
  draw_rings(pen, line);
}

void draw(const Pen& pen, const Band& band) {
  const Axes& axes = pen.axes();
  std::vector<Polyline> polygons;
  Polyline lower;
  Polyline upper;
  const auto flush = [&] {
    Polyline polygon = thinned(upper);
    const Polyline back = thinned(lower);
    polygon.insert(polygon.end(), back.rbegin(), back.rend());
    polygon = clip_polygon(polygon, axes.box);
    if (polygon.size() > 2) polygons.push_back(std::move(polygon));
    lower.clear();
    upper.clear();
  };
  for (std::size_t i = 0; i < band.x.size(); ++i) {
    double low = band.low[i];
    // On a logarithmic axis, a band down to zero extends to the lower end.
    if (axes.y.kind() == ScaleKind::kLog && low <= 0) low = axes.y.lower();
    if (!axes.has_place(band.x[i], low) || !axes.has_place(band.x[i], band.high[i])) {
      flush();
      continue;
    }
    lower.push_back(axes.at(band.x[i], low));
    upper.push_back(axes.at(band.x[i], band.high[i]));
  }
  flush();
  // One by one: bands that overlap themselves must not cancel out.
  for (const Polyline& polygon : polygons) pen.canvas.area({polygon}, pen.colour, kBandOpacity);
}

void draw(const Pen& pen, const Scatter& scatter) {
  const Axes& axes = pen.axes();
  for (std::size_t i = 0; i < scatter.x.size(); ++i) {
    if (!axes.has_place(scatter.x[i], scatter.y[i])) continue;
    const Point at = axes.at(scatter.x[i], scatter.y[i]);
    if (!axes.box.contains(at)) continue;
    const bool has_value = !scatter.values.empty() && pen.plan.colour_scale.has_value();
    const Colour colour =
        has_value ? colour_of(pen.panel, pen.plan, scatter.values[i]) : pen.colour;
    const bool has_rim = scatter.radius >= 1.5 && scatter.opacity == 1;
    pen.canvas.circle(at, scatter.radius, colour, scatter.opacity, has_rim);
  }
}

void draw(const Pen& pen, const Bars& bars) {
  const Axes& axes = pen.axes();
  const bool is_log = axes.y.kind() == ScaleKind::kLog;
  const double base = is_log ? axes.y.lower() : std::clamp(0.0, axes.y.lower(), axes.y.upper());
  // Neighbours share an edge: drawn as one outline, they have no seams.
  Polyline outline;
  std::vector<Polyline> outlines;
  const auto flush = [&] {
    if (outline.empty()) return;
    outline.insert(outline.begin(), {outline.front().x, axes.y_at(base)});
    outline.push_back({outline.back().x, axes.y_at(base)});
    outlines.push_back(clip_polygon(outline, axes.box));
    outline.clear();
  };
  for (std::size_t i = 0; i < bars.heights.size(); ++i) {
    const double height = bars.heights[i];
    if (!axes.has_place(bars.edges[i], height) || !axes.has_place(bars.edges[i + 1], height)) {
      flush();
      continue;
    }
    outline.push_back(axes.at(bars.edges[i], height));
    outline.push_back(axes.at(bars.edges[i + 1], height));
  }
  flush();
  for (const Polyline& polygon : outlines) {
    if (polygon.size() < 3) continue;
    pen.canvas.area({polygon}, tinted(pen.colour, kBarTint));
    pen.canvas.lines({polygon}, {pen.colour, 0.6, Dash::kSolid});
  }
}

void draw(const Pen& pen, const ContourLines& contours) {
  const Scale values = enclosing_scale(ScaleKind::kLinear, contours.grid.values, 0);
  const Field field = smooth_field_of(contours.grid, pen.axes(), values);
  std::vector<Polyline> lines;
  for (const double level : contours.levels) {
    if (!std::isfinite(level)) continue;
    for (const Polyline& line : contour_lines(field, values.place(level))) {
      for (Polyline& part : clip_line(line, pen.axes().box)) lines.push_back(std::move(part));
    }
  }
  pen.canvas.lines(lines, {pen.colour, 0.8, Dash::kSolid});
}

// A straight line in data units is a curve on logarithmic axes.
void draw(const Pen& pen, const Reference& reference) {
  constexpr int kPieces = 128;
  const Axes& axes = pen.axes();
  Polyline line;
  const auto add = [&](double x, double y) {
    if (axes.has_place(x, y)) line.push_back(axes.at(x, y));
  };
  switch (reference.kind) {
    case Reference::Kind::kHorizontal:
      add(axes.x.lower(), reference.intercept);
      add(axes.x.upper(), reference.intercept);
      break;
    case Reference::Kind::kVertical:
      add(reference.intercept, axes.y.lower());
      add(reference.intercept, axes.y.upper());
      break;
    case Reference::Kind::kSloped:
      for (int k = 0; k <= kPieces; ++k) {
        const double x = axes.x.value(static_cast<double>(k) / kPieces);
        add(x, reference.intercept + reference.slope * x);
      }
      break;
  }
  const std::vector<Polyline> parts = clip_line(line, axes.box);
  pen.canvas.lines(parts, {pen.colour, 0.9, reference.dash});
  if (reference.kind != Reference::Kind::kVertical || parts.empty()) return;
  const double x = parts.front().front().x;
  const bool is_right = x > axes.box.left + 0.75 * axes.box.width;
  pen.canvas.text({x + (is_right ? -3 : 3), axes.box.top + kTickSize},
                  reference.label,
                  {.size = kTickSize,
                   .anchor = is_right ? Anchor::kEnd : Anchor::kStart,
                   .colour = pen.colour,
                   .halo = kWhite});
}

// Above the frame, each series in its own row: the first one is the lowest.
void draw_marks(const Pen& pen, const Marks& marks, std::size_t row) {
  constexpr double kHalf = 2.2;  // of a cross
  const Axes& axes = pen.axes();
  const double y = axes.box.top - kMarkRow * (static_cast<double>(row) + 0.6);
  std::vector<Polyline> strokes;
  for (const double value : marks.x) {
    if (!is_drawable(axes.x.kind(), value)) continue;
    const double x = axes.x_at(value);
    if (x < axes.box.left || x > axes.box.right()) continue;
    strokes.push_back({{x - kHalf, y - kHalf}, {x + kHalf, y + kHalf}});
    strokes.push_back({{x - kHalf, y + kHalf}, {x + kHalf, y - kHalf}});
  }
  pen.canvas.lines(strokes, {pen.colour, 1.1, Dash::kSolid});
}

void draw(const Pen& /*pen*/, const Marks& /*marks*/) {}  // draw_marks()

void draw(const Pen& /*pen*/, const HeatMap& /*field*/) {}

void draw(const Pen& /*pen*/, const FilledContours& /*field*/) {}

}  // namespace

void draw_series(Canvas& canvas, const Panel& panel, const PanelPlan& plan, std::size_t series) {
  const Pen pen{canvas, panel, plan, plan.colours[series]};
  if (const auto* marks = std::get_if<Marks>(&panel.series[series])) {
    const auto is_marks = [](const Series& s) { return std::holds_alternative<Marks>(s); };
    const auto first = panel.series.begin();
    const auto row = std::count_if(first, first + static_cast<std::ptrdiff_t>(series), is_marks);
    return draw_marks(pen, *marks, static_cast<std::size_t>(row));
  }
  std::visit([&](const auto& s) { draw(pen, s); }, panel.series[series]);
}

}  // namespace hesscope::plot
