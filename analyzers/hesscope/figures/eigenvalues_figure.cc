// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>
#include <hesscope/plot/scale.h>

namespace hesscope::figures {
namespace {

struct Eigenvalue {
  const char* name;
  const char* label;
  plot::Dash dash;  // used if colours distinguish results
};

constexpr Eigenvalue kEigenvalues[] = {
    {"lambda_max", "\u03bb_{max}", plot::Dash::kSolid},
    {"lambda_median", "\u03bb_{median}", plot::Dash::kDashed},
    {"lambda_min", "\u03bb_{min}", plot::Dash::kDotted},
};

plot::Figure draw_eigenvalues(std::span<const Source> sources, const FigureRequest& /*request*/) {
  plot::Panel panel;
  panel.y = {.label = "eigenvalue of the Hessian", .scale = plot::ScaleKind::kSignedLog};
  std::vector<double> all;
  double widest = 0;
  const bool is_one = sources.size() == 1;
  std::size_t num_runs = 0;
  std::ptrdiff_t num_unproved = 0;
  for (const Source& source : named(sources)) {
    const Checkpoints checkpoints = read_checkpoints(source);
    const std::vector<bool> unproved =
        read_unproved(*source.result, "spectrum", "lambda_max", checkpoints.size());
    num_unproved += std::ranges::count(unproved, true);
    panel.x = step_axis(checkpoints);
    const std::vector<double> band =
        read_column(*source.result, "spectrum", "rounding_band", checkpoints.size());
    for (const double width : band) widest = std::max(widest, width >= 0 ? width : 0);
    const bool by_eigenvalue = is_one && checkpoints.runs.size() == 1;
    for (const Run& run : checkpoints.runs) {
      plot::Band around_zero;
      around_zero.colour = plot::kGrey;
      for (std::size_t i = run.begin; i < run.end; ++i) {
        around_zero.x.push_back(checkpoints.steps[i]);
        around_zero.low.push_back(-band[i]);
        around_zero.high.push_back(band[i]);
      }
      panel.series.push_back(std::move(around_zero));
    }
    for (std::size_t k = 0; k < std::size(kEigenvalues); ++k) {
      const std::vector<double> values =
          read_column(*source.result, "spectrum", kEigenvalues[k].name, checkpoints.size());
      all.insert(all.end(), values.begin(), values.end());
      std::size_t run = num_runs;
      for (plot::Line& line : curves(checkpoints, values, unproved)) {
        line.colour = plot::line_colour(by_eigenvalue ? k : run++);
        line.dash = by_eigenvalue ? plot::Dash::kSolid : kEigenvalues[k].dash;
        line.label =
            by_eigenvalue ? kEigenvalues[k].label : line.label + ": " + kEigenvalues[k].label;
        panel.series.push_back(std::move(line));
      }
    }
    num_runs += checkpoints.runs.size();
  }
  panel.y.threshold = signed_threshold(all, widest);
  panel.series.insert(panel.series.begin(), plot::Reference{.dash = plot::Dash::kSolid});
  if (widest > 0) panel.note = "rounding: \u00b1" + plot::short_number(widest);
  if (num_unproved > 0) {
    panel.note += fmt::format("{}ends of {} checkpoint{} not proved",
                              panel.note.empty() ? "" : "; ",
                              num_unproved,
                              num_unproved == 1 ? "" : "s");
  }
  return {.title = {},
          .description =
              "Smallest, lower median and largest eigenvalue of the Hessian over "
              "training steps, and the band within which rounding hides their sign",
          .panels = {std::move(panel)}};
}

}  // namespace

FigureKind eigenvalues_figure() {
  FigureKind kind{.name = "eigenvalues",
                  .topic = Topic::kSpectrum,
                  .summary = "smallest, median and largest eigenvalue over steps",
                  .needs = {{"", "step"}, {"spectrum", "rounding_band"}},
                  .made_by = "analyzer spectrum",
                  .takes_several = true,
                  .has_free_scales = true,
                  .draw = draw_eigenvalues};
  for (const Eigenvalue& eigenvalue : kEigenvalues) {
    kind.needs.push_back({"spectrum", eigenvalue.name});
  }
  return kind;
}

}  // namespace hesscope::figures
