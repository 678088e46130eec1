// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>

namespace hesscope::figures {
namespace {

struct Number {
  const char* name;
  const char* words;
  const char* label;  // next to its line
};

constexpr Number kNumbers[] = {
    {"robust_diagonal", "robust condition number (diagonal)", "diagonal, robust"},
    {"robust_eigenvalue", "robust condition number (eigenvalues)", "eigenvalues, robust"},
    {"robust_absolute", "robust condition number (magnitudes)", "magnitudes, robust"},
    {"classical", "condition number", "classical"},
};

const Number& chosen_number(const std::string& quantity) {
  for (const Number& number : kNumbers) {
    if (quantity == number.name) return number;
  }
  return kNumbers[0];
}

plot::Figure draw_condition(std::span<const Source> sources, const FigureRequest& request) {
  plot::Panel panel;
  panel.y = {.label = "condition number", .scale = plot::ScaleKind::kLog};
  const auto add = [&](const Source& source, const Number& number, bool by_source) {
    const Checkpoints checkpoints = read_checkpoints(source);
    panel.x = step_axis(checkpoints);
    const std::vector<double> values =
        read_column(*source.result, "condition", number.name, checkpoints.size());
    for (plot::Line& line : curves(checkpoints, values)) {
      if (!by_source) {
        line.label = checkpoints.runs.size() > 1 ? line.label + ": " + number.label : number.label;
      }
      panel.series.push_back(std::move(line));
    }
  };
  if (sources.size() == 1 && request.quantity.empty()) {
    for (const Number& number : kNumbers) add(named(sources)[0], number, false);
  } else {
    const Number& number = chosen_number(request.quantity);
    panel.y.label = number.words;
    for (const Source& source : named(sources)) add(source, number, true);
  }
  return {.title = {},
          .description = "Condition numbers of the Hessian over training steps",
          .panels = {std::move(panel)}};
}

}  // namespace

FigureKind condition_figure() {
  FigureKind kind{.name = "condition",
                  .topic = Topic::kSpectrum,
                  .summary = "condition numbers over steps; of several results, one number",
                  .needs = {{"", "step"}},
                  .made_by = "analyzer condition",
                  .takes_several = true,
                  .has_free_scales = true,
                  .shows_all_quantities = true,
                  .draw = draw_condition};
  for (const Number& number : kNumbers) {
    kind.needs.push_back({"condition", number.name});
    kind.quantities.emplace_back(number.name);
  }
  return kind;
}

}  // namespace hesscope::figures
