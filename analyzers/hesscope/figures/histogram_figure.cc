// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>

namespace hesscope::figures {
namespace {

constexpr int kBinsPerDecade = 4;

// Bins of equal width on a scale that is logarithmic on both sides of [-band, band], which is one
// bin.
std::vector<double> signed_edges(double band, double largest) {
  const double decades = std::max(1.0, std::ceil(kBinsPerDecade * std::log10(largest / band)));
  std::vector<double> positive;
  for (int k = 0; k <= static_cast<int>(decades); ++k) {
    positive.push_back(band * std::pow(10.0, static_cast<double>(k) / kBinsPerDecade));
  }
  positive.back() = std::max(positive.back(), std::nextafter(largest, 2 * largest));
  std::vector<double> edges;
  std::for_each(positive.rbegin(), positive.rend(), [&](double v) { edges.push_back(-v); });
  edges.insert(edges.end(), positive.begin(), positive.end());
  return edges;
}

plot::Bars counted(const std::vector<double>& values, std::vector<double> edges) {
  plot::Bars bars{.edges = std::move(edges)};
  bars.heights.assign(bars.edges.size() - 1, 0);
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    const auto above = std::upper_bound(bars.edges.begin(), bars.edges.end(), value);
    const auto bin = std::clamp<std::ptrdiff_t>(
        above - bars.edges.begin() - 1, 0, static_cast<std::ptrdiff_t>(bars.heights.size()) - 1);
    ++bars.heights[static_cast<std::size_t>(bin)];
  }
  return bars;
}

plot::Figure draw_histogram(std::span<const Source> sources, const FigureRequest& request) {
  const Source& source = sources[0];
  const Checkpoints checkpoints = read_checkpoints(source);
  const std::size_t checkpoint = chosen_checkpoint(source, checkpoints, request);
  const std::vector<double> values =
      read_row(*source.result, "spectrum", "eigenvalues", 2, checkpoint);
  const double band = read_row(*source.result, "spectrum", "rounding_band", 1, checkpoint).front();
  double largest = -1;  // if there is none
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  plot::Panel panel;
  panel.title = checkpoints.name_of(checkpoint);
  panel.x = {.label = "eigenvalue of the Hessian", .scale = plot::ScaleKind::kSignedLog};
  panel.y = {.label = "eigenvalues", .whole_numbers = true};
  panel.x.threshold = signed_threshold(values, band);
  if (largest > 0) {
    panel.series.push_back(
        counted(values, signed_edges(std::min(panel.x.threshold, largest), largest)));
  } else if (largest == 0) {  // all are in one bin, of any width
    panel.x.threshold = 1;
    panel.series.push_back(counted(values, {-1, 1}));
  }
  panel.note = zeros_text(source, checkpoint);
  return {.title = {},
          .description =
              "How many eigenvalues of the Hessian there are of each size, on a scale "
              "that is logarithmic on both sides of zero",
          .panels = {std::move(panel)}};
}

}  // namespace

FigureKind histogram_figure() {
  return {.name = "histogram",
          .topic = Topic::kSpectrum,
          .summary = "how many eigenvalues there are of each size at a checkpoint",
          .needs = {{"", "step"}, {"spectrum", "eigenvalues"}, {"spectrum", "rounding_band"}},
          .made_by = "analyzer spectrum",
          .has_step = true,
          .draw = draw_histogram};
}

}  // namespace hesscope::figures
