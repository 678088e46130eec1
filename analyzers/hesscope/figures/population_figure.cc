// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>

namespace hesscope::figures {
namespace {

const std::string kPopulation = "population";
const std::string kSamples = "population_samples";

struct PopulationCurve {
  const char* name;
  const char* label;
};

constexpr PopulationCurve kPopulationCurves[] = {{"lambda_max", "largest eigenvalue"},
                                                 {"robust_diagonal", "robust condition number"}};

// At which numbers of samples the interval is not usable according to its flag; nowhere if the
// result has no flag.
std::vector<bool> unusable(const Source& source, const std::string& curve, std::size_t checkpoint) {
  const std::string name = curve + "_interval";
  const Variable* const listed = source.result->find(kPopulation, name);
  if (listed == nullptr) return {};
  const auto usable = std::ranges::find(listed->flag_meanings, "usable");
  const auto code = static_cast<double>(usable - listed->flag_meanings.begin());
  std::vector<bool> found;
  for (const double flag : read_row(*source.result, kPopulation, name, 2, checkpoint)) {
    found.push_back(flag > code);
  }
  return found;
}

plot::Figure draw_population(std::span<const Source> sources, const FigureRequest& request) {
  const Source source = named(sources)[0];
  const Checkpoints checkpoints = read_checkpoints(source);
  const std::size_t checkpoint = chosen_checkpoint(source, checkpoints, request);
  const std::vector<double> sizes = read_numbers(*source.result, kPopulation, kSamples, 1).reals();
  plot::Figure figure{.title = {},
                      .description =
                          "Largest eigenvalue and condition number over more and more "
                          "samples drawn anew, with 95 % intervals; rings where they may miss "
                          "the population's far more often"};
  for (const PopulationCurve& curve : kPopulationCurves) {
    const auto row = [&](const std::string& part) {
      return read_row(*source.result, kPopulation, curve.name + part, 2, checkpoint);
    };
    plot::Panel panel;
    panel.title = checkpoints.name_of(checkpoint);
    panel.x = {.label = "samples", .scale = plot::ScaleKind::kLog};
    panel.y = {.label = curve.label};
    panel.series.push_back(plot::Band{.x = sizes, .low = row("_lower"), .high = row("_upper")});
    plot::Line line{.x = sizes, .y = row(""), .label = {}, .markers = true};
    line.uncertain = unusable(source, curve.name, checkpoint);
    if (std::ranges::find(line.uncertain, true) != line.uncertain.end()) {
      panel.note = "rings: crowded, the interval may miss";
    }
    panel.series.push_back(std::move(line));
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

}  // namespace

FigureKind population_figure() {
  FigureKind kind{.name = kPopulation,
                  .topic = Topic::kSpectrum,
                  .summary =
                      "sharpness and condition number over more and more samples, with "
                      "intervals",
                  .needs = {{"", "step"}, {kPopulation, kSamples}},
                  .made_by = "analyzer population",
                  .has_step = true,
                  .draw = draw_population};
  for (const PopulationCurve& curve : kPopulationCurves) {
    for (const char* part : {"", "_lower", "_upper"}) {
      kind.needs.push_back({kPopulation, std::string(curve.name) + part});
    }
  }
  return kind;
}

}  // namespace hesscope::figures
