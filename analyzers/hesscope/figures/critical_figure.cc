// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>

namespace hesscope::figures {
namespace {

const std::string kCritical = "critical";

plot::Figure draw_critical(std::span<const Source> sources, const FigureRequest& /*request*/) {
  plot::Panel panel;
  panel.x = {.label = "loss at the critical point"};
  panel.y = {.label = "index: number of negative eigenvalues", .lower = 0, .whole_numbers = true};
  const bool is_one = sources.size() == 1;
  std::size_t num_missing = 0;
  std::size_t num_degenerate = 0;
  for (const Source& source : named(sources)) {
    const Checkpoints checkpoints = read_checkpoints(source);
    const auto read = [&](const char* name) {
      return read_column(*source.result, kCritical, name, checkpoints.size());
    };
    const std::vector<double> losses = read("loss");
    const std::vector<double> indices = read("index");
    const std::vector<double> zeros = read("num_zero");
    const bool has_steps = is_one && checkpoints.runs.size() == 1;  // shown as colours
    for (const Run& run : checkpoints.runs) {
      plot::Scatter points{.label = run.label, .radius = 3};
      for (std::size_t i = run.begin; i < run.end; ++i) {
        if (!std::isfinite(losses[i]) || !std::isfinite(indices[i])) {
          ++num_missing;
          continue;
        }
        if (zeros[i] > 0) ++num_degenerate;
        points.x.push_back(losses[i]);
        points.y.push_back(indices[i]);
        if (has_steps) points.values.push_back(checkpoints.steps[i]);
      }
      panel.series.push_back(std::move(points));
    }
    if (has_steps) {
      panel.colour_bar = plot::ColourBar{.label = checkpoints.axis_label(), .whole_numbers = true};
    }
  }
  panel.legend = plot::Legend::kInside;
  const auto remark = [&](std::size_t count, const char* what) {
    if (count == 0) return;
    panel.note += fmt::format("{}{} {}", panel.note.empty() ? "" : "; ", count, what);
  };
  remark(num_missing, "not found");
  remark(num_degenerate, "degenerate");
  return {.title = {},
          .description =
              "The index of the critical point near each checkpoint against its loss: 0 is a "
              "minimum, all others are saddles or maxima",
          .panels = {std::move(panel)}};
}

}  // namespace

FigureKind critical_figure() {
  return {
      .name = kCritical,
      .topic = Topic::kLandscape,
      .summary = "index of the critical points near the checkpoints against their loss",
      .needs = {{"", "step"}, {kCritical, "loss"}, {kCritical, "index"}, {kCritical, "num_zero"}},
      .made_by = "analyzer critical",
      .takes_several = true,
      .has_free_scales = true,
      .draw = draw_critical};
}

}  // namespace hesscope::figures
