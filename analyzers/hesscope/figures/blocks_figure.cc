// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>

namespace hesscope::figures {
namespace {

const char* const kNorm = "frobenius_norm";
const char* const kDistance = "js_distance";

constexpr double kPointsPerLetter = 4.7;
constexpr double kMostBeside = 250;
constexpr double kPointsPerBlock = 12;
constexpr std::size_t kFewBlocks = 8;  // whose numbers are written out
constexpr double kPointsPerNumber = 36;
constexpr double kLeastSide = 180;
constexpr double kMostSide = 1000;

plot::Figure draw_blocks(std::span<const Source> sources, const FigureRequest& request) {
  const io::ResultReader& result = *sources[0].result;
  const std::string quantity = request.quantity.empty() ? kNorm : request.quantity;
  const Checkpoints checkpoints = read_checkpoints(sources[0]);
  const std::size_t checkpoint = chosen_checkpoint(sources[0], checkpoints, request);
  const std::vector<std::string> names = result.read_text("", "parameter_name");
  const Variable rows = read_numbers(result, "blocks", quantity, 3);
  if (rows.shape != std::vector<std::uint64_t>{checkpoints.size(), names.size(), names.size()}) {
    throw InputError(fmt::format("{}: /blocks/{} does not lie over (checkpoint, block, block)",
                                 result.path().string(),
                                 quantity));
  }
  plot::Panel panel;
  panel.title = checkpoints.name_of(checkpoint);
  plot::HeatMap map;
  map.numbers = true;
  map.grid.values = rows.row(checkpoint);
  const auto stride = static_cast<std::size_t>(
      std::ceil(kPointsPerBlock * static_cast<double>(names.size()) / kMostSide));
  for (std::size_t b = 0; b < names.size(); ++b) {
    const auto at = static_cast<double>(b);
    map.grid.x.push_back(at);
    map.grid.y.push_back(at);
    if (b % stride != 0) continue;
    panel.x.ticks.emplace_back(at, names[b]);
    panel.y.ticks.emplace_back(at, names[b]);
  }
  // Room for cells and names, as far as a page goes.
  std::size_t longest = 0;
  for (const std::string& name : names) longest = std::max(longest, name.size());
  const double beside = std::min(kPointsPerLetter * static_cast<double>(longest), kMostBeside);
  const double per_block = names.size() <= kFewBlocks ? kPointsPerNumber : kPointsPerBlock;
  const double side =
      std::clamp(per_block * static_cast<double>(names.size()), kLeastSide, kMostSide);
  panel.y.reversed = true;  // as a matrix is written
  panel.square = true;
  const bool is_norm = quantity == kNorm;
  const bool is_positive = std::any_of(map.grid.values.begin(),
                                       map.grid.values.end(),
                                       [](double v) { return v > 0 && std::isfinite(v); });
  panel.colour_bar = plot::ColourBar{
      .label = is_norm ? "Frobenius norm" : "Jensen\u2013Shannon distance",
      .scale = is_norm && is_positive ? plot::ScaleKind::kLog : plot::ScaleKind::kLinear};
  panel.series.push_back(std::move(map));
  return {.title = {},
          .description = is_norm ? "Frobenius norms of the blocks of the Hessian"
                                 : "Distances between the spectra of the Hessian's diagonal blocks",
          .panels = {std::move(panel)},
          .width = side + beside + 90,
          .height = side + beside + 45};
}

}  // namespace

FigureKind blocks_figure() {
  return {.name = "blocks",
          .topic = Topic::kBlocks,
          .summary = "norms of the Hessian's blocks at a checkpoint",
          .needs = {{"", "step"}, {"", "parameter_name"}, {"blocks", kNorm}, {"blocks", kDistance}},
          .made_by = "analyzer blocks",
          .has_step = true,
          .quantities = {kNorm, kDistance},
          .draw = draw_blocks};
}

}  // namespace hesscope::figures
