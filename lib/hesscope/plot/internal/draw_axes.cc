// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include <hesscope/plot/internal/drawing.h>
#include <hesscope/plot/internal/text.h>

namespace hesscope::plot {
namespace {

constexpr Colour kGridColour{0xe6, 0xe6, 0xe6};
constexpr double kMinorLength = 1.8;
constexpr double kBaseline = 0.35;  // of the font size: from a text's middle to its baseline
const Stroke kFrame{.colour = kInk, .width = 0.6, .dash = Dash::kSolid};

std::string exponent_text(int exponent) {
  return fmt::format(
      "\u00d710^{{{}{}}}", exponent < 0 ? "\u2212" : "", exponent < 0 ? -exponent : exponent);
}

void draw_x_axis(Canvas& canvas, const Panel& panel, const PanelPlan& plan) {
  const Axes& axes = plan.axes;
  const Box& box = axes.box;
  std::vector<Polyline> marks;
  for (const Tick& tick : plan.x_ticks.ticks) {
    const double x = axes.x_at(tick.value);
    const double length = tick.label.empty() ? kMinorLength : kTickLength;
    if (panel.x.ticks.empty()) marks.push_back({{x, box.bottom()}, {x, box.bottom() + length}});
  }
  canvas.lines(marks, kFrame);
  const double top = box.bottom() + kTickLength + kGap;
  double bottom = top + kTickSize;
  for (const Tick& tick : plan.x_ticks.ticks) {
    const double x = axes.x_at(tick.value);
    if (plan.x_labels_upright) {
      canvas.text({x + kBaseline * kTickSize, top},
                  tick.label,
                  {.size = kTickSize, .anchor = Anchor::kEnd, .upwards = true});
      bottom = std::max(bottom, top + text_width(tick.label, kTickSize));
    } else {
      canvas.text(
          {x, top + 0.75 * kTickSize}, tick.label, {.size = kTickSize, .anchor = Anchor::kMiddle});
    }
  }
  const double label_y = bottom + kGap + 0.75 * kLabelSize;
  canvas.text({box.left + box.width / 2, label_y},
              panel.x.label,
              {.size = kLabelSize, .anchor = Anchor::kMiddle});
  if (plan.x_ticks.exponent != 0) {
    canvas.text({box.right(), label_y},
                exponent_text(plan.x_ticks.exponent),
                {.size = kTickSize, .anchor = Anchor::kEnd});
  }
}

void draw_y_axis(Canvas& canvas, const Panel& panel, const PanelPlan& plan) {
  const Axes& axes = plan.axes;
  const Box& box = axes.box;
  std::vector<Polyline> marks;
  double widest = 0;
  for (const Tick& tick : plan.y_ticks.ticks) {
    const double y = axes.y_at(tick.value);
    const double length = tick.label.empty() ? kMinorLength : kTickLength;
    if (panel.y.ticks.empty()) marks.push_back({{box.left - length, y}, {box.left, y}});
    widest = std::max(widest, text_width(tick.label, kTickSize));
  }
  canvas.lines(marks, kFrame);
  const double right = box.left - kTickLength - kGap + 1;
  for (const Tick& tick : plan.y_ticks.ticks) {
    canvas.text({right, axes.y_at(tick.value) + kBaseline * kTickSize},
                tick.label,
                {.size = kTickSize, .anchor = Anchor::kEnd});
  }
  canvas.text({right - widest - kGap - 0.25 * kLabelSize, box.top + box.height / 2},
              panel.y.label,
              {.size = kLabelSize, .anchor = Anchor::kMiddle, .upwards = true});
  if (plan.y_ticks.exponent != 0) {
    canvas.text({box.left, box.top - plan.room.height_of_marks() - 4},
                exponent_text(plan.y_ticks.exponent),
                {.size = kTickSize});
  }
}

// Vertices of the colour bar's slices, from 0 to 1 of its scale.
std::vector<double> slices(const PanelPlan& plan) {
  std::vector<double> edges = {0};
  if (!plan.levels.empty()) {
    for (const double level : plan.levels) edges.push_back(plan.colour_scale->place(level));
    edges.push_back(1);
  } else {
    constexpr int kSlices = 64;
    for (int k = 1; k <= kSlices; ++k) edges.push_back(static_cast<double>(k) / kSlices);
  }
  return edges;
}

}  // namespace

void draw_grid(Canvas& canvas, const Panel& panel, const PanelPlan& plan) {
  if (plan.has_field || !plan.has_values) return;
  const Box& box = plan.axes.box;
  std::vector<Polyline> lines;
  if (panel.x.grid) {
    for (const Tick& tick : plan.x_ticks.ticks) {
      if (tick.label.empty()) continue;
      const double x = plan.axes.x_at(tick.value);
      lines.push_back({{x, box.top}, {x, box.bottom()}});
    }
  }
  if (panel.y.grid) {
    for (const Tick& tick : plan.y_ticks.ticks) {
      if (tick.label.empty()) continue;
      const double y = plan.axes.y_at(tick.value);
      lines.push_back({{box.left, y}, {box.right(), y}});
    }
  }
  canvas.lines(lines, {.colour = kGridColour, .width = 0.4, .dash = Dash::kSolid});
}

void draw_axes(Canvas& canvas, const Panel& panel, const PanelPlan& plan) {
  const Box& box = plan.axes.box;
  canvas.open({{"class", "axes"}});
  const Point top_left{box.left, box.top};
  const Point bottom_left{box.left, box.bottom()};
  const Point bottom_right{box.right(), box.bottom()};
  Polyline frame = {top_left, bottom_left, bottom_right};
  if (plan.has_field) {
    frame.push_back({box.right(), box.top});
    frame.push_back(top_left);
  }
  canvas.lines({frame}, kFrame);
  if (plan.has_values) {
    draw_x_axis(canvas, panel, plan);
    draw_y_axis(canvas, panel, plan);
  } else {
    canvas.text({box.left + box.width / 2, box.top + box.height / 2},
                "no values to show",
                {.size = kLabelSize, .anchor = Anchor::kMiddle, .colour = kGrey});
  }
  const double above = box.top - plan.room.height_of_marks();
  const double title_y = above - 5 - (plan.room.has_small_line ? kSmallLine : 0);
  canvas.text({box.left, title_y}, panel.title, {.size = kTitleSize, .bold = true});
  canvas.text({box.right(), above - (plan.room.has_small_line ? 4 : 5)},
              plan.note,
              {.size = kSmallSize, .anchor = Anchor::kEnd, .colour = kGrey});
  canvas.close();
}

void draw_colour_bar(Canvas& canvas, const Panel& panel, const PanelPlan& plan) {
  if (!plan.colour_scale) return;
  const Box& box = plan.axes.box;
  const Scale& scale = *plan.colour_scale;
  const Box bar{box.right() + kBarGap, box.top, kBarWidth, box.height};
  canvas.open({{"class", "colour-bar"},
               {"data-lower", exact_number(scale.lower())},
               {"data-upper", exact_number(scale.upper())}});
  const std::vector<double> edges = slices(plan);
  for (std::size_t k = 0; k + 1 < edges.size(); ++k) {
    // Each slice extends to the bar's end and is covered by the next: no seams.
    const double height = (1 - edges[k]) * bar.height;
    const Colour colour = plan.levels.empty()
                              ? colour_at(panel.colour_bar->map, (edges[k] + edges[k + 1]) / 2)
                              : colour_between(panel, plan, k);
    canvas.rectangle({bar.left, bar.top, bar.width, height}, colour, 1, true);
  }
  canvas.lines({{{bar.left, bar.top},
                 {bar.left, bar.bottom()},
                 {bar.right(), bar.bottom()},
                 {bar.right(), bar.top},
                 {bar.left, bar.top}}},
               kFrame);
  std::vector<Polyline> marks;
  double widest = 0;
  for (const Tick& tick : plan.colour_ticks.ticks) {
    const double y = bar.bottom() - scale.place(tick.value) * bar.height;
    const double length = tick.label.empty() ? 1.2 : 2.2;
    marks.push_back({{bar.right(), y}, {bar.right() + length, y}});
    canvas.text({bar.right() + 4, y + kBaseline * kTickSize}, tick.label, {.size = kTickSize});
    widest = std::max(widest, text_width(tick.label, kTickSize));
  }
  canvas.lines(marks, kFrame);
  if (plan.colour_ticks.exponent != 0) {
    canvas.text(
        {bar.left, bar.top - 4}, exponent_text(plan.colour_ticks.exponent), {.size = kTickSize});
  }
  canvas.text({bar.right() + 4 + widest + kGap + 0.7 * kLabelSize, bar.top + bar.height / 2},
              panel.colour_bar->label,
              {.size = kLabelSize, .anchor = Anchor::kMiddle, .upwards = true});
  canvas.close();
}

}  // namespace hesscope::plot
