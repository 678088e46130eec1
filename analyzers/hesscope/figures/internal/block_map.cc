// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/suggest.h>
#include <hesscope/figures/internal/block_map.h>

namespace hesscope::figures {
namespace {

constexpr double kPointsPerLetter = 4.7;
constexpr double kMostBeside = 250;
constexpr std::size_t kMostLetters = 50;  // of a name
constexpr double kPointsPerBlock = 12;
constexpr std::size_t kFewBlocks = 8;  // whose numbers are written out
constexpr double kPointsPerNumber = 36;
constexpr double kLeastSide = 180;
constexpr double kMostSide = 1000;

constexpr std::array<BlockQuantity, 3> kQuantities = {
    {{"frobenius_norm", "Frobenius norm", "Frobenius norms of the blocks of the Hessian", false},
     {"js_distance",
      "Jensen\u2013Shannon distance",
      "Distances between the spectra of the Hessian's diagonal blocks",
      true},
     {"js_distance_decades",
      "Jensen\u2013Shannon distance by decades",
      "Distances between the spectra of the Hessian's diagonal blocks, by sign and decade of the "
      "eigenvalues",
      true}}};

// A long name without its middle: tensors mostly differ at the ends of their names.
std::string short_name(const std::string& name) {
  const std::vector<std::string_view> letters = utf8_characters(name);
  if (letters.size() <= kMostLetters) return name;
  const std::size_t before = (kMostLetters - 1) / 2;
  const std::size_t behind = kMostLetters - 1 - before;
  return fmt::format("{}\u2026{}",
                     fmt::join(letters.begin(), letters.begin() + before, ""),
                     fmt::join(letters.end() - behind, letters.end(), ""));
}

}  // namespace

std::span<const BlockQuantity> block_quantities() { return kQuantities; }

const BlockQuantity* find_block_quantity(const std::string& name) {
  return find_or_null(block_quantities(), name);
}

void refuse_blocks(const std::filesystem::path& file, std::string_view quantity) {
  throw InputError(fmt::format(
      "{}: /blocks/{} does not lie over (checkpoint, block, block)", file.string(), quantity));
}

plot::Panel block_map(const std::vector<std::string>& names,
                      std::vector<double> values,
                      const BlockQuantity& quantity,
                      const std::string& title) {
  plot::Panel panel;
  panel.title = title;
  plot::HeatMap map;
  map.numbers = true;
  map.grid.values = std::move(values);
  const auto stride = static_cast<std::size_t>(
      std::ceil(kPointsPerBlock * static_cast<double>(names.size()) / kMostSide));
  for (std::size_t b = 0; b < names.size(); ++b) {
    const auto at = static_cast<double>(b);
    map.grid.x.push_back(at);
    map.grid.y.push_back(at);
    if (b % stride != 0) continue;
    panel.x.ticks.emplace_back(at, short_name(names[b]));
    panel.y.ticks.emplace_back(at, short_name(names[b]));
  }
  panel.y.reversed = true;  // as a matrix is written
  panel.square = true;
  const bool is_positive = std::ranges::any_of(
      map.grid.values, [](double value) { return value > 0 && std::isfinite(value); });
  plot::ColourBar bar{.label = quantity.label};
  if (quantity.is_distance) {
    bar.lower = 0;
    bar.upper = std::sqrt(std::numbers::ln2);
  } else if (is_positive) {
    bar.scale = plot::ScaleKind::kLog;
  }
  panel.colour_bar = std::move(bar);
  panel.series.push_back(std::move(map));
  return panel;
}

// Limited by the size of a page.
BlockMapSize block_map_size(const std::vector<std::string>& names) {
  std::size_t longest = 0;
  for (const std::string& name : names) longest = std::max(longest, name.size());
  const double per_block = names.size() <= kFewBlocks ? kPointsPerNumber : kPointsPerBlock;
  return {.cells = std::clamp(per_block * static_cast<double>(names.size()), kLeastSide, kMostSide),
          .beside = std::min(kPointsPerLetter * static_cast<double>(longest), kMostBeside)};
}

}  // namespace hesscope::figures
