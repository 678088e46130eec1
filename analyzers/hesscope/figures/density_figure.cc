// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>
#include <hesscope/plot/scale.h>

namespace hesscope::figures {
namespace {

const char* const kDecades = "decades";

std::vector<double> row_of(const Source& source,
                           const std::string& name,
                           std::size_t checkpoint,
                           std::optional<std::size_t> size = std::nullopt) {
  return read_row(*source.result, "density", name, 2, checkpoint, size);
}

bool has_numbers(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

// Draws the density over the eigenvalue. One eigenvalue of n is a hill of height 1 / (n sigma
// sqrt(2 pi)); the axis ends at a hundredth of it, which shows hills but not their Gaussian tails.
void draw_curve(
    plot::Panel& panel, const Source& source, std::size_t checkpoint, bool is_one, double& lowest) {
  const std::vector<double> at = row_of(source, "eigenvalue", checkpoint);
  const std::vector<double> exact = row_of(source, "exact_density", checkpoint, at.size());
  const std::vector<double> estimate = row_of(source, "density", checkpoint, at.size());
  const double sigma = read_row(*source.result, "density", "sigma", 1, checkpoint).front();
  std::size_t n = 1;
  if (const auto* offsets = source.result->find("spectrum", "eigenvalues");
      offsets != nullptr && offsets->shape.size() == 2) {
    n = offsets->shape[1];
  }
  for (const Group& group : source.result->groups()) {
    for (const Dimension& dimension : group.dimensions) {
      if (dimension.name == "parameter") n = dimension.size;
    }
  }
  const double hill = 1 / (static_cast<double>(n) * sigma * std::sqrt(2 * std::numbers::pi));
  if (hill > 0) lowest = std::min(lowest, hill / 100);
  const bool is_exact = has_numbers(exact);
  if (is_one) {
    if (is_exact) {
      panel.series.push_back(plot::Line{.x = at, .y = exact, .label = "all eigenvalues"});
    }
    panel.series.push_back(plot::Line{.x = at,
                                      .y = estimate,
                                      .label = "quadrature",
                                      .width = 1,
                                      .dash = is_exact ? plot::Dash::kDashed : plot::Dash::kSolid});
  } else {
    panel.series.push_back(
        plot::Line{.x = at, .y = is_exact ? exact : estimate, .label = source.label});
  }
}

void draw_decades(plot::Panel& panel,
                  const Source& source,
                  std::size_t checkpoint,
                  bool is_one,
                  plot::Colour colour) {
  std::vector<double> at = row_of(source, "log10_magnitude", checkpoint);
  for (double& value : at) value = std::pow(10.0, value);
  const std::vector<double> negative =
      row_of(source, "log_density_negative", checkpoint, at.size());
  const std::vector<double> positive =
      row_of(source, "log_density_positive", checkpoint, at.size());
  const std::string before = is_one ? "" : source.label + ": ";
  panel.series.push_back(
      plot::Line{.x = at, .y = positive, .label = before + "positive", .colour = colour});
  panel.series.push_back(plot::Line{.x = at,
                                    .y = negative,
                                    .label = before + "negative",
                                    .colour = is_one ? plot::line_colour(1) : colour,
                                    .dash = is_one ? plot::Dash::kSolid : plot::Dash::kDashed});
  const double zero = read_row(*source.result, "density", "zero_mass", 1, checkpoint).front();
  if (is_one && std::isfinite(zero)) {
    panel.note = fmt::format("{} % are zero", plot::short_number(100 * zero));
  }
}

plot::Figure draw_density(std::span<const Source> sources, const FigureRequest& request) {
  plot::Panel panel;
  const bool is_one = sources.size() == 1;
  const bool in_decades = request.quantity == kDecades;
  double lowest = kInfinity;
  for (std::size_t k = 0; k < sources.size(); ++k) {
    const Checkpoints checkpoints = read_checkpoints(sources[k]);
    const std::size_t checkpoint = chosen_checkpoint(sources[k], checkpoints, request);
    if (in_decades) {
      draw_decades(panel, sources[k], checkpoint, is_one, plot::line_colour(k));
    } else {
      draw_curve(panel, sources[k], checkpoint, is_one, lowest);
    }
    if (is_one) panel.title = checkpoints.name_of(checkpoint);
  }
  if (in_decades) {
    panel.x = {.label = "magnitude of the eigenvalue", .scale = plot::ScaleKind::kLog};
    panel.y = {.label = "share per decade"};
  } else {
    panel.x = {.label = "eigenvalue of the Hessian"};
    panel.y = {.label = "density", .scale = plot::ScaleKind::kLog};
    if (std::isfinite(lowest)) panel.y.lower = lowest;
  }
  if (is_one) panel.legend = plot::Legend::kInside;
  return {.title = {},
          .description = "Density of the eigenvalues of the Hessian",
          .panels = {std::move(panel)}};
}

}  // namespace

FigureKind density_figure() {
  return {.name = "density",
          .topic = Topic::kSpectrum,
          .summary = "spectral density at a checkpoint: exact and by quadrature",
          .needs = {{"", "step"},
                    {"density", "eigenvalue"},
                    {"density", "density"},
                    {"density", "exact_density"},
                    {"density", "sigma"}},
          .made_by = "analyzer density",
          .takes_several = true,
          .has_step = true,
          .quantities = {"density", kDecades},
          .draw = draw_density};
}

}  // namespace hesscope::figures
