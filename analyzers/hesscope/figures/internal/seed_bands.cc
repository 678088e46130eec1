// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/figures/internal/seed_bands.h>

namespace hesscope::figures {
namespace {

double median(std::vector<double> sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : sorted[half - 1] / 2 + sorted[half] / 2;
}

// The line of medians, and its band.
std::pair<plot::Line, plot::Band> merged(const std::vector<plot::Line>& seeds) {
  plot::Line line = seeds.front();
  plot::Band band{.x = line.x, .low = line.y, .high = line.y, .colour = line.colour};
  line.uncertain.resize(line.x.size(), false);
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    std::vector<double> values;
    for (const plot::Line& seed : seeds) values.push_back(seed.y[i]);
    for (const plot::Line& seed : seeds) {
      if (!seed.uncertain.empty() && seed.uncertain[i]) line.uncertain[i] = true;
    }
    if (std::ranges::all_of(values, [](double v) { return std::isfinite(v); })) {
      std::ranges::sort(values);
      line.y[i] = median(values);
      band.low[i] = values.front();
      band.high[i] = values.back();
    } else {
      line.y[i] = band.low[i] = band.high[i] = kNaN;
    }
  }
  return {std::move(line), std::move(band)};
}

// Whether they have the same label and share some positions, but not all: for example, seeds of
// which one has lost a checkpoint. Pieces of one line share at most one position.
bool differ_in_places(const plot::Line& a, const plot::Line& b) {
  if (a.label.empty() || a.label != b.label || a.x == b.x) return false;
  const std::unordered_set<double> places(a.x.begin(), a.x.end());
  return std::ranges::count_if(b.x, [&](double x) { return places.contains(x); }) > 1;
}

// Whether they may be seeds of one run. Lines with inconsistent lengths (from a damaged result, for
// example) are left to the drawing code, which refuses them.
bool are_seeds(const plot::Line& a, const plot::Line& b) {
  const auto is_of_one_length = [](const plot::Line& line) {
    const std::size_t size = line.x.size();
    return line.y.size() == size && (line.uncertain.empty() || line.uncertain.size() == size);
  };
  return a.label == b.label && a.x == b.x && is_of_one_length(a) && is_of_one_length(b);
}

}  // namespace

void merge_seeds(plot::Panel& panel) {
  std::vector<plot::Series> series;
  std::vector<bool> is_taken(panel.series.size(), false);
  std::size_t most = 1;
  bool has_apart = false;
  const auto line_at = [&](std::size_t i) { return std::get_if<plot::Line>(&panel.series[i]); };
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    if (is_taken[i]) continue;
    std::vector<plot::Line> seeds;
    const plot::Line* const first = line_at(i);
    for (std::size_t k = i; first != nullptr && !first->label.empty() && k < is_taken.size(); ++k) {
      const plot::Line* const other = line_at(k);
      has_apart = has_apart || (other != nullptr && differ_in_places(*first, *other));
      if (other == nullptr || !are_seeds(*first, *other)) continue;
      seeds.push_back(*other);
      is_taken[k] = true;
    }
    if (seeds.size() < 2) {
      series.push_back(panel.series[i]);
      continue;
    }
    auto [line, band] = merged(seeds);
    series.emplace_back(std::move(band));
    series.emplace_back(std::move(line));
    most = std::max(most, seeds.size());
  }
  const auto add_note = [&](const std::string& text) {
    panel.note += panel.note.empty() ? text : "; " + text;
  };
  if (has_apart) add_note("seeds of one label whose steps differ are drawn apart");
  if (most < 2) return;
  panel.series = std::move(series);
  add_note(fmt::format("median and range of {} seeds", most));
}

}  // namespace hesscope::figures
