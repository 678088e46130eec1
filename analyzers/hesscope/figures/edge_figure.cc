// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>

namespace hesscope::figures {
namespace {

const std::string kEdge = "edge";

struct EdgeCurve {
  const char* name;
  const char* label;
  plot::Dash dash;
};

constexpr EdgeCurve kEdgeCurves[] = {
    {"sharpness", "sharpness", plot::Dash::kSolid},
    {"preconditioned_sharpness", "preconditioned sharpness", plot::Dash::kSolid},
    {"gradient_curvature", "along the gradient", plot::Dash::kSolid},
    {"update_curvature", "along the update", plot::Dash::kSolid},
    {"threshold", "largest stable", plot::Dash::kDashed}};

// Two missing numbers count as the same.
bool are_same(std::span<const double> one, std::span<const double> other) {
  return std::ranges::equal(
      one, other, [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); });
}

plot::Figure draw_edge(std::span<const Source> sources, const FigureRequest& /*request*/) {
  const Source source = named(sources)[0];
  const Checkpoints checkpoints = read_checkpoints(source);
  plot::Panel panel;
  panel.x = step_axis(checkpoints);
  panel.y = {.label = "curvature"};
  std::vector<double> before;
  for (std::size_t k = 0; k < std::size(kEdgeCurves); ++k) {
    const auto& [name, label, dash] = kEdgeCurves[k];
    std::vector<double> values = read_column(*source.result, kEdge, name, checkpoints.size());
    const bool is_same = are_same(values, before);  // gradient descent's P is 1
    before = values;
    const bool is_there =
        std::ranges::any_of(values, [](double value) { return std::isfinite(value); });
    if (is_same || !is_there) continue;
    const std::vector<bool> unproved =
        read_unproved(*source.result, kEdge, name, checkpoints.size());
    for (plot::Line& line : curves(checkpoints, values, unproved)) {
      line.label = checkpoints.runs.size() > 1 ? line.label + ": " + label : label;
      line.colour = plot::line_colour(k);
      line.dash = dash;
      line.markers = line.x.size() == 1;
      panel.series.push_back(std::move(line));
    }
  }
  return {.title = {},
          .description =
              "Sharpness, that which the optimiser sees, and the largest at which it is "
              "stable; curvature along gradient and update; over training steps",
          .panels = {std::move(panel)}};
}

}  // namespace

FigureKind edge_figure() {
  FigureKind kind{.name = "edge",
                  .topic = Topic::kStability,
                  .summary = "sharpness, curvature along gradient and update, and the threshold",
                  .needs = {{"", "step"}},
                  .made_by = "analyzer edge",
                  .has_free_scales = true,
                  .draw = draw_edge};
  for (const EdgeCurve& quantity : kEdgeCurves) kind.needs.push_back({kEdge, quantity.name});
  return kind;
}

}  // namespace hesscope::figures
