// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>
#include <hesscope/plot/scale.h>

namespace hesscope::figures {
namespace {

struct Line {
  double l0 = 0;
  double l1 = 0;

  bool is_there() const { return std::isfinite(l0) && std::isfinite(l1); }

  std::string text() const {
    return fmt::format("{} {} {} \u2016g\u2016",
                       plot::short_number(l0, 3),
                       l1 < 0 ? "\u2212" : "+",
                       plot::short_number(std::abs(l1), 3));
  }
};

Line read_line(const Source& source, const std::string& suffix) {
  return {read_number(*source.result, "smoothness", "L0" + suffix),
          read_number(*source.result, "smoothness", "L1" + suffix)};
}

void add(plot::Panel& panel, const Line& line, plot::Reference style) {
  if (!line.is_there()) return;
  style.kind = plot::Reference::Kind::kSloped;
  style.intercept = line.l0;
  style.slope = line.l1;
  panel.series.push_back(std::move(style));
}

plot::Figure draw_smoothness(std::span<const Source> sources, const FigureRequest& /*request*/) {
  plot::Panel panel;
  panel.x = {.label = "gradient norm \u2016g\u2016", .scale = plot::ScaleKind::kLog};
  panel.y = {.label = "spectral norm of the Hessian", .scale = plot::ScaleKind::kLog};
  panel.legend = plot::Legend::kInside;
  const bool is_one = sources.size() == 1;
  for (std::size_t k = 0; k < sources.size(); ++k) {
    const Source& source = sources[k];
    const Checkpoints checkpoints = read_checkpoints(source);
    plot::Scatter points;
    points.x = read_column(*source.result, "smoothness", "gradient_norm", checkpoints.size());
    points.y = read_column(*source.result, "smoothness", "spectral_norm", checkpoints.size());
    // If there are many points, covered ones shine through.
    constexpr std::size_t kMany = 300;
    const bool are_many = points.x.size() > kMany;
    points.radius = are_many ? 1.3 : 2.6;
    points.opacity = are_many ? 0.5 : 1;
    plot::Reference fit{.colour = plot::kInk, .dash = plot::Dash::kDashed};
    plot::Reference envelope{.colour = plot::kGrey, .dash = plot::Dash::kDotted};
    const Line least_squares = read_line(source, "");
    const Line tightest = read_line(source, "_envelope");
    if (is_one) {
      points.values = checkpoints.steps;
      panel.colour_bar = plot::ColourBar{.label = checkpoints.axis_label(), .whole_numbers = true};
      fit.label = "least squares: " + least_squares.text();
      envelope.label = "tightest above: " + tightest.text();
    } else {
      points.label = source.label;
      if (least_squares.is_there()) points.label += ": " + least_squares.text();
      points.colour = fit.colour = envelope.colour = plot::line_colour(k);
    }
    add(panel, least_squares, fit);
    add(panel, tightest, envelope);
    panel.series.push_back(std::move(points));
  }
  return {.title = {},
          .description =
              "Spectral norm of the Hessian against the norm of the gradient at the "
              "checkpoints of a run, and lines L0 + L1 |g| through and above them",
          .panels = {std::move(panel)}};
}

}  // namespace

FigureKind smoothness_figure() {
  return {.name = "smoothness",
          .topic = Topic::kSmoothness,
          .summary = "norm of the Hessian against that of the gradient, with the (L0, L1) lines",
          .needs = {{"", "step"},
                    {"smoothness", "gradient_norm"},
                    {"smoothness", "spectral_norm"},
                    {"smoothness", "L0"},
                    {"smoothness", "L1"}},
          .made_by = "analyzer smoothness",
          .takes_several = true,
          .has_free_scales = true,
          .draw = draw_smoothness};
}

}  // namespace hesscope::figures
