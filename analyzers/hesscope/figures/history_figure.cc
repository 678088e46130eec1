// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>

namespace hesscope::figures {
namespace {

const char* const kBatchLoss = "batch_loss";
const char* const kAccuracy = "accuracy";

plot::Panel panel_of(std::span<const Source> sources,
                     const std::string& name,
                     const std::string& words) {
  plot::Panel panel;
  panel.y = {.label = words, .scale = plot::ScaleKind::kLog};
  const bool is_one = sources.size() == 1;
  for (const Source& source : named(sources)) {
    const Checkpoints checkpoints = read_checkpoints(source);
    panel.x = step_axis(checkpoints);
    const auto column = [&](const std::string& variable) {
      return read_column(*source.result, "", variable, checkpoints.size());
    };
    const bool is_alone = is_one && checkpoints.runs.size() == 1;
    const bool has_batches =
        is_alone && name == "loss" && source.result->find("", kBatchLoss) != nullptr;
    if (has_batches) {
      plot::Line batches{.x = checkpoints.steps, .y = column(kBatchLoss), .label = "batch"};
      batches.colour = plot::Colour{0xaa, 0xaa, 0xaa};
      batches.width = 0.6;
      panel.series.push_back(std::move(batches));
    }
    for (plot::Line& line : curves(checkpoints, column(name))) {
      if (is_alone) line.label = has_batches ? "evaluation" : "";
      panel.series.push_back(std::move(line));
    }
  }
  return panel;
}

plot::Figure draw_history(std::span<const Source> sources, const FigureRequest& /*request*/) {
  plot::Figure figure{.title = {},
                      .description = "Loss and gradient norm over training steps",
                      .panels = {panel_of(sources, "loss", "loss"),
                                 panel_of(sources, "gradient_norm", "gradient norm")}};
  const bool classifies = std::all_of(sources.begin(), sources.end(), [](const Source& source) {
    return source.result->find("", kAccuracy) != nullptr;
  });
  if (classifies) {
    figure.description = "Loss, gradient norm and accuracy over training steps";
    figure.panels.push_back(panel_of(sources, kAccuracy, "accuracy"));
    figure.panels.back().y.scale = plot::ScaleKind::kLinear;
  }
  return figure;
}

}  // namespace

FigureKind history_figure() {
  return {.name = "history",
          .topic = Topic::kTraining,
          .summary = "loss and gradient norm over steps; of classifiers, accuracy too",
          .needs = {{"", "step"}, {"", "loss"}, {"", "gradient_norm"}},
          .made_by = "run_training()",
          .takes_several = true,
          .has_free_scales = true,
          .draw = draw_history};
}

}  // namespace hesscope::figures
