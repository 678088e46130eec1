// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>

namespace hesscope::figures {
namespace {

const std::string kGroup = "norm-sharpness";

struct Norm {
  const char* name;
  const char* label;
};

constexpr Norm kNorms[] = {
    {"linf", "largest entry"}, {"block", "tensors"}, {"spectral", "spectral norms"}};

// Solid lines show the sharpness, dashed ones the bounds; they coincide where the gap is closed.
plot::Figure draw_norm_sharpness(std::span<const Source> sources,
                                 const FigureRequest& /*request*/) {
  const Source source = named(sources)[0];
  const Checkpoints checkpoints = read_checkpoints(source);
  plot::Panel panel;
  panel.x = step_axis(checkpoints);
  panel.y = {.label = "sharpness in the norm", .scale = plot::ScaleKind::kLog};
  for (std::size_t k = 0; k < std::size(kNorms); ++k) {
    const std::string name = kNorms[k].name;
    for (const bool is_bound : {false, true}) {
      const std::vector<double> values = read_column(
          *source.result, kGroup, name + (is_bound ? "_upper" : "_sharpness"), checkpoints.size());
      const bool is_there =
          std::ranges::any_of(values, [](double value) { return std::isfinite(value); });
      if (!is_there) continue;
      const std::string label = std::string(kNorms[k].label) + (is_bound ? ", bound" : "");
      for (plot::Line& line : curves(checkpoints, values)) {
        line.label = checkpoints.runs.size() > 1 ? line.label + ": " + label : label;
        line.colour = plot::line_colour(k);
        line.dash = is_bound ? plot::Dash::kDashed : plot::Dash::kSolid;
        line.markers = line.x.size() == 1;
        panel.series.push_back(std::move(line));
      }
    }
  }
  return {.title = {},
          .description =
              "The largest curvature over the unit balls of three norms, and its proved "
              "bounds, over training steps",
          .panels = {std::move(panel)}};
}

}  // namespace

FigureKind norm_sharpness_figure() {
  FigureKind kind{.name = "norm-sharpness",
                  .topic = Topic::kStability,
                  .summary = "sharpness in the norms of sign descent, of tensors and of Muon",
                  .needs = {{"", "step"}},
                  .made_by = "analyzer norm-sharpness",
                  .has_free_scales = true,
                  .draw = draw_norm_sharpness};
  for (const Norm& norm : kNorms) {
    kind.needs.push_back({kGroup, std::string(norm.name) + "_sharpness"});
    kind.needs.push_back({kGroup, std::string(norm.name) + "_upper"});
  }
  return kind;
}

}  // namespace hesscope::figures
