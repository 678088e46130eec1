// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/suggest.h>
#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>

namespace hesscope::figures {
namespace {

const std::string kInfluence = "influence";
const std::string kSelf = "self_influence";

constexpr std::size_t kMostBars = 20;

struct Quantity {
  std::string name;
  const char* label;
};

std::span<const Quantity> quantities() {
  static const std::vector<Quantity> all = {
      {kSelf, "change of its own loss without a sample"},
      {"lambda_max_slope", "slope of the largest eigenvalue over a sample's weight"},
      {"parameter_change_norm", "change of the parameters without a sample"}};
  return all;
}

// Samples that have a number, largest magnitude first.
std::vector<std::size_t> by_magnitude(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return !std::isfinite(values[i]); });
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::abs(values[a]) > std::abs(values[b]);
  });
  return order;
}

// The most influential samples; each bar is above its number in the data and rises or falls.
plot::Panel bars_of(const std::vector<double>& values, const Quantity& quantity) {
  plot::Panel panel;
  panel.x = {.label = "sample", .grid = false};
  panel.y = {.label = quantity.label};
  const std::vector<std::size_t> order = by_magnitude(values);
  const std::size_t count = std::min(order.size(), kMostBars);
  std::array<plot::Bars, 2> signs;  // above zero, below zero
  for (std::size_t s = 0; s < signs.size(); ++s) signs[s].colour = plot::line_colour(s);
  for (std::size_t k = 0; k <= count; ++k) {
    for (plot::Bars& bars : signs) bars.edges.push_back(static_cast<double>(k) - 0.5);
  }
  for (std::size_t k = 0; k < count; ++k) {
    const double value = values[order[k]];
    signs[0].heights.push_back(value >= 0 ? value : 0);
    signs[1].heights.push_back(value < 0 ? value : 0);
    panel.x.ticks.emplace_back(static_cast<double>(k), fmt::format("{}", order[k]));
  }
  for (plot::Bars& bars : signs) {
    const bool has_any = std::ranges::any_of(bars.heights, [](double v) { return v != 0; });
    if (has_any) panel.series.push_back(std::move(bars));
  }
  panel.series.push_back(plot::Reference{.dash = plot::Dash::kSolid});
  panel.legend = plot::Legend::kNone;
  panel.note = fmt::format("{} of {}", count, values.size());
  return panel;
}

// Adds the Newton steps, for samples that have one, next to their bars.
void add_newton_steps(const io::ResultReader& result,
                      std::size_t checkpoint,
                      const std::vector<double>& values,
                      plot::Panel& panel) {
  const std::vector<double> samples =
      read_row(result, kInfluence, "influential_sample", 2, checkpoint);
  const std::vector<double> steps =
      read_row(result, kInfluence, "newton_self_influence", 2, checkpoint);
  const std::vector<std::size_t> order = by_magnitude(values);
  plot::Scatter points{.label = "by a Newton step", .colour = plot::kGrey, .radius = 2.5};
  for (std::size_t k = 0; k < samples.size() && k < steps.size(); ++k) {
    const bool is_sample = samples[k] >= 0 && samples[k] < static_cast<double>(values.size());
    if (!is_sample || !std::isfinite(steps[k])) continue;
    const auto at = std::ranges::find(order, static_cast<std::size_t>(samples[k])) - order.begin();
    if (at >= static_cast<std::ptrdiff_t>(std::min(order.size(), kMostBars))) continue;
    points.x.push_back(static_cast<double>(at));
    points.y.push_back(steps[k]);
  }
  if (points.x.empty()) return;
  panel.series.push_back(std::move(points));
  panel.legend = plot::Legend::kInside;
}

// All influences in order, to show whether a few stand out.
plot::Panel order_of(std::vector<double> values, const Quantity& quantity) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  std::ranges::sort(values, std::greater());
  plot::Panel panel;
  panel.x = {.label = "rank"};
  panel.y = {.label = quantity.label, .scale = plot::ScaleKind::kSignedLog};
  panel.y.threshold = signed_threshold(values, 0);
  plot::Line line;
  for (std::size_t i = 0; i < values.size(); ++i) line.x.push_back(static_cast<double>(i + 1));
  line.y = std::move(values);
  panel.series.push_back(plot::Reference{.dash = plot::Dash::kSolid});
  panel.series.push_back(std::move(line));
  return panel;
}

plot::Figure draw_influence(std::span<const Source> sources, const FigureRequest& request) {
  const io::ResultReader& result = *sources[0].result;
  const Quantity& quantity = request.quantity.empty()
                                 ? quantities().front()
                                 : *find_or_null(quantities(), request.quantity);
  const Checkpoints checkpoints = read_checkpoints(sources[0]);
  const std::size_t checkpoint = chosen_checkpoint(sources[0], checkpoints, request);
  const std::vector<double> values = read_row(result, kInfluence, quantity.name, 2, checkpoint);
  plot::Panel bars = bars_of(values, quantity);
  bars.title = checkpoints.name_of(checkpoint);
  if (quantity.name == kSelf) add_newton_steps(result, checkpoint, values, bars);
  return {.title = {},
          .description =
              "The most influential samples in the order of their influence, with its "
              "sign, and the influences of all samples in order",
          .panels = {std::move(bars), order_of(values, quantity)}};
}

}  // namespace

FigureKind influence_figure() {
  FigureKind kind{.name = kInfluence,
                  .topic = Topic::kInfluence,
                  .summary = "the most influential samples at a checkpoint",
                  .needs = {{"", "step"},
                            {kInfluence, "influential_sample"},
                            {kInfluence, "newton_self_influence"}},
                  .made_by = "analyzer influence",
                  .has_step = true,
                  .draw = draw_influence};
  for (const Quantity& quantity : quantities()) {
    kind.quantities.push_back(quantity.name);
    kind.needs.push_back({kInfluence, quantity.name});
  }
  return kind;
}

}  // namespace hesscope::figures
