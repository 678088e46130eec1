// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <hesscope/figures/figure_data.h>
#include <hesscope/figures/smoothness_figure.h>
#include <hesscope/plot/scale.h>

namespace hesscope::figures {
namespace {

void add_line(plot::Panel& panel,
              const Source& source,
              const std::string& suffix,
              const std::string& words,
              const plot::Reference& style) {
  const double l0 = read_number(*source.result, "smoothness", "L0" + suffix);
  const double l1 = read_number(*source.result, "smoothness", "L1" + suffix);
  if (!std::isfinite(l0) || !std::isfinite(l1)) return;
  plot::Reference line = style;
  line.kind = plot::Reference::Kind::kSloped;
  line.intercept = l0;
  line.slope = l1;
  line.label = fmt::format("{}: {} {} {} \u2016g\u2016",
                           words,
                           plot::short_number(std::stod(fmt::format("{:.3g}", l0))),
                           l1 < 0 ? "\u2212" : "+",
                           plot::short_number(std::stod(fmt::format("{:.3g}", std::abs(l1)))));
  panel.series.push_back(std::move(line));
}

plot::Figure draw(std::span<const Source> sources, const FigureRequest& /*request*/) {
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
    points.radius = 2.6;
    plot::Reference fit{.colour = plot::kInk, .dash = plot::Dash::kDashed};
    plot::Reference envelope{.colour = plot::kGrey, .dash = plot::Dash::kDotted};
    if (is_one) {
      points.values = checkpoints.steps;
      panel.colour_bar = plot::ColourBar{.label = checkpoints.axis_label(), .whole_numbers = true};
    } else {
      points.label = source.label;
      points.colour = fit.colour = envelope.colour = plot::line_colour(k);
    }
    const std::string before = is_one ? "" : source.label + ", ";
    add_line(panel, source, "", before + "least squares", fit);
    add_line(panel, source, "_envelope", before + "tightest above", envelope);
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
          .summary = "norm of the Hessian against that of the gradient, with the (L0, L1) lines",
          .needs = {{"", "step"},
                    {"smoothness", "gradient_norm"},
                    {"smoothness", "spectral_norm"},
                    {"smoothness", "L0"},
                    {"smoothness", "L1"}},
          .made_by = "hesscope analyze --only smoothness",
          .takes_several = true,
          .has_free_scales = true,
          .draw = draw};
}

}  // namespace hesscope::figures
