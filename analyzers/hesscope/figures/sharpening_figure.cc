// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <utility>
#include <vector>

#include <hesscope/core/constants.h>
#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>

namespace hesscope::figures {
namespace {

const std::string kSharpening = "sharpening";

class SharpeningDrawing {
 public:
  explicit SharpeningDrawing(const Source& source)
      : result_(*source.result),
        checkpoints_(read_checkpoints(source)),
        unproved_(read_unproved(result_, kSharpening, "eigenvalues_largest", checkpoints_.size())) {
  }

  // What gradient flow would do at each checkpoint.
  plot::Panel rate() const {
    plot::Panel panel = panel_of("d\u03bb_{max}/dt along the gradient flow");
    const std::vector<double> rate = outermost("rate_largest");
    add(panel, rate, "", plot::line_colour(0), plot::Dash::kSolid);
    panel.y.threshold = signed_threshold(rate, 0);
    return panel;
  }

  // The actual change between checkpoints, and what the gradients at both ends of each step
  // predict.
  plot::Panel change() const {
    plot::Panel panel = panel_of("change of the largest eigenvalue");
    std::vector<double> all = outermost("change_largest");
    const std::vector<double> predicted = outermost("predicted_change_largest");
    add(panel, all, "measured", plot::line_colour(0), plot::Dash::kSolid);
    add(panel, predicted, "predicted", plot::line_colour(1), plot::Dash::kDashed);
    all.insert(all.end(), predicted.begin(), predicted.end());
    panel.y.threshold = signed_threshold(all, 0);
    return panel;
  }

 private:
  plot::Panel panel_of(const std::string& label) const {
    plot::Panel panel;
    panel.x = step_axis(checkpoints_);
    panel.y = {.label = label, .scale = plot::ScaleKind::kSignedLog};
    panel.series.push_back(plot::Reference{.dash = plot::Dash::kSolid});
    return panel;
  }

  // Values of the outermost eigenvalue.
  std::vector<double> outermost(const std::string& name) const {
    const Variable variable = read_numbers(result_, kSharpening, name, 2, checkpoints_.size());
    const auto num_pairs = static_cast<std::size_t>(variable.shape[1]);
    std::vector<double> values(checkpoints_.size(), kNaN);
    for (std::size_t i = 0; i < values.size() && num_pairs > 0; ++i) {
      values[i] = variable.reals()[i * num_pairs];
    }
    return values;
  }

  void add(plot::Panel& panel,
           const std::vector<double>& values,
           const std::string& label,
           const plot::Colour& colour,
           plot::Dash dash) const {
    for (plot::Line& line : curves(checkpoints_, values, unproved_)) {
      if (checkpoints_.runs.size() == 1) {
        line.label = label;
        line.colour = colour;
      } else if (!label.empty()) {
        line.label += ": " + label;
      }
      line.dash = dash;
      line.markers = true;
      panel.series.push_back(std::move(line));
    }
  }

  const io::ResultReader& result_;
  Checkpoints checkpoints_;
  std::vector<bool> unproved_;
};

plot::Figure draw_sharpening(std::span<const Source> sources, const FigureRequest& /*request*/) {
  const SharpeningDrawing drawing(named(sources)[0]);
  return {.title = {},
          .description =
              "The rate at which gradient flow changes the largest eigenvalue of the Hessian, over "
              "training steps, and its change between checkpoints beside that which its gradients "
              "predict",
          .panels = {drawing.rate(), drawing.change()}};
}

}  // namespace

FigureKind sharpening_figure() {
  return {.name = kSharpening,
          .topic = Topic::kStability,
          .summary = "how gradient flow and the run change the largest eigenvalue",
          .needs = {{"", "step"},
                    {kSharpening, "rate_largest"},
                    {kSharpening, "change_largest"},
                    {kSharpening, "predicted_change_largest"}},
          .made_by = "analyzer sharpening",
          .has_free_scales = true,
          .draw = draw_sharpening};
}

}  // namespace hesscope::figures
