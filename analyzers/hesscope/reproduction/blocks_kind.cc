// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/figures/internal/block_map.h>
#include <hesscope/reproduction/internal/experiment_figures.h>
#include <hesscope/reproduction/internal/experiment_parts.h>
#include <hesscope/reproduction/internal/figure_support.h>
#include <hesscope/reproduction/internal/step_values.h>

namespace hesscope::detail {
namespace {

const char* const kBlocksGroup = "blocks";

const figures::BlockQuantity* quantity_of(const ExperimentFigure& figure) {
  const QuantityName name = quantity_name(figure.settings.text("quantity"));
  return name.group == kBlocksGroup ? figures::find_block_quantity(name.name) : nullptr;
}

// A run of a variant at one step, over all its seeds.
struct MapOfRun {
  std::string variant;
  std::string run;
  std::vector<std::string> names = {};  // of the tensors
  std::vector<double> means = {};       // over seeds, row by row
  SeedStatistics heterogeneity = {};    // of a seed's mean over pairs of different tensors
  double least = kNaN;                  // least of `means` of different tensors
  double most = kNaN;
};

// The mean over all pairs of different tensors; NaN if there are none.
double mean_of_pairs(const std::vector<double>& values, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i / count != i % count) sum += values[i];
  }
  return count > 1 ? sum / static_cast<double>(count * (count - 1)) : kNaN;
}

// For one seed; empty if it was not measured at this step, or does not exist.
std::vector<double> block_numbers(const ExperimentResults& results,
                                  const TrainedRun& run,
                                  const std::string& quantity,
                                  std::int64_t step) {
  const ArraySeries series = results.array_series(run, quantity);
  const auto found = series.values.find(step);
  if (found == series.values.end()) return {};
  const bool is_there =
      std::ranges::all_of(found->second, [](double value) { return std::isfinite(value); });
  return is_there ? found->second : std::vector<double>();
}

void summarize_seeds(MapOfRun& map, const std::vector<std::vector<double>>& of_seeds) {
  const std::size_t count = map.names.size();
  std::vector<double> heterogeneities;
  map.means.assign(count * count, 0);
  for (const std::vector<double>& values : of_seeds) {
    heterogeneities.push_back(mean_of_pairs(values, count));
    for (std::size_t i = 0; i < map.means.size(); ++i) {
      map.means[i] += values[i] / static_cast<double>(of_seeds.size());
    }
  }
  map.heterogeneity = seed_statistics(heterogeneities);
  std::vector<double> pairs;
  for (std::size_t i = 0; i < map.means.size(); ++i) {
    if (i / count != i % count) pairs.push_back(map.means[i]);
  }
  if (pairs.empty()) return;
  const auto [least, most] = std::ranges::minmax(pairs);
  map.least = least;
  map.most = most;
}

// For every run that a measure covers at the step, in the order of variants and runs.
std::vector<MapOfRun> maps_of(const ExperimentResults& results, const ExperimentFigure& figure) {
  const std::string& quantity = figure.settings.text("quantity");
  std::vector<MapOfRun> maps;
  for (const std::string& variant : figure.variants) {
    const std::int64_t step = figure.settings.has("step")
                                  ? figure.settings.integer("step")
                                  : results.variant(variant).experiment.num_steps;
    for (const std::string& name : figure.runs) {
      MapOfRun map{.variant = variant, .run = name};
      std::vector<std::vector<double>> of_seeds;
      for (const std::uint64_t seed : results.seeds({variant})) {
        const TrainedRun* run = results.find(variant, name, seed);
        if (run == nullptr) continue;
        std::vector<double> values = block_numbers(results, *run, quantity, step);
        if (values.empty()) continue;
        const std::filesystem::path file =
            *results.measured(*run, kBlocksGroup, quantity_name(quantity).measure);
        if (map.names.empty()) {
          map.names = io::ResultReader(file).read_text("", "parameter_name");
        }
        if (values.size() != map.names.size() * map.names.size()) {
          figures::refuse_blocks(file, quantity_name(quantity).name);
        }
        of_seeds.push_back(std::move(values));
      }
      if (of_seeds.empty()) continue;
      summarize_seeds(map, of_seeds);
      maps.push_back(std::move(map));
    }
  }
  if (maps.empty()) {
    throw ConfigError(fmt::format(
        "{}: no [[measure]] with the analyzer '{}' covers a checkpoint that the figure '{}' shows",
        figure.location,
        kBlocksGroup,
        figure.name));
  }
  return maps;
}

// Names dimensions and variables after variant and run, because tensors may differ between them.
void add_map(const MapOfRun& map, const figures::BlockQuantity& quantity, Group& data) {
  const std::string rows = "block_" + map.variant;
  const std::string columns = "block_column_" + map.variant;
  if (std::ranges::find(data.dimensions, rows, &Dimension::name) == data.dimensions.end()) {
    data.dimensions.push_back(named_dimension(rows, map.names));
    data.dimensions.push_back(named_dimension(columns, map.names));
  }
  data.add({.name = fmt::format("{}_{}_{}", quantity.name, map.variant, map.run),
            .dimensions = {rows, columns},
            .long_name = quantity.label,
            .definition = fmt::format("as /blocks/{}, mean over {} seeds of run {} of variant {}",
                                      quantity.name,
                                      map.heterogeneity.count,
                                      map.run,
                                      map.variant),
            .values = map.means});
}

FigureContent make_blocks(const ExperimentResults& results, const ExperimentFigure& figure) {
  const figures::BlockQuantity& quantity = *quantity_of(figure);
  const std::vector<MapOfRun> maps = maps_of(results, figure);
  FigureContent content;
  std::vector<std::vector<std::string>> rows = {
      {"variant", "run", "tensors", "mean over pairs", "smallest", "largest"}};
  double width = 0;
  double height = 0;
  for (const MapOfRun& map : maps) {
    const std::string& variant = results.variant(map.variant).title;
    const std::string& run = results.run_title(map.run);
    add_map(map, quantity, content.data);
    content.figure.panels.push_back(
        figures::block_map(map.names, map.means, quantity, fmt::format("{}, {}", variant, run)));
    const figures::BlockMapSize size = figures::block_map_size(map.names);
    width = std::max(width, size.width());
    height = std::max(height, size.height());
    rows.push_back({variant,
                    run,
                    fmt::format("{}", map.names.size()),
                    mean_text(map.heterogeneity),
                    digits_text(map.least),
                    digits_text(map.most)});
  }
  const std::size_t columns = std::min<std::size_t>(maps.size(), 2);
  const std::size_t lines = ceil_div(maps.size(), columns);
  content.figure.columns = static_cast<int>(columns);
  content.figure.width = width * static_cast<double>(columns);
  content.figure.height = height * static_cast<double>(lines);
  content.figure.title = figure.title;
  content.figure.description = quantity.description;
  content.text =
      "Means over seeds; in brackets the standard deviation over seeds of the mean over "
      "all pairs of different tensors.\n\n" +
      markdown_table(rows);
  compare_with_published(
      results,
      figure,
      [&](const PublishedValue& value, std::size_t /*variant*/, std::size_t /*run*/) {
        const auto found = std::ranges::find_if(maps, [&](const MapOfRun& map) {
          return map.variant == value.variant && (value.run.empty() || map.run == value.run);
        });
        return found == maps.end() ? SeedStatistics() : found->heterogeneity;
      },
      content);
  return content;
}

void require_block_quantity(const ExperimentFigure& figure,
                            const ExperimentDocument& /*document*/) {
  if (quantity_of(figure) != nullptr) return;
  std::string names;
  for (const figures::BlockQuantity& quantity : figures::block_quantities()) {
    names += fmt::format("{}{}/{}", names.empty() ? "" : ", ", kBlocksGroup, quantity.name);
  }
  throw ConfigError(fmt::format("a figure of kind 'blocks' is of one of {}; got '{}'",
                                names,
                                figure.settings.text("quantity")));
}

}  // namespace

ExperimentFigureKind blocks_kind() {
  return {
      .name = "blocks",
      .summary = "norms of the Hessian's blocks, or distances between their spectra, as heat maps",
      .keys = {{.name = "quantity",
                .meaning = "of the analyzer blocks, over pairs of tensors",
                .fallback = SettingValue(std::string("blocks/js_distance"))},
               {.name = "step",
                .type = SettingKey::Type::kInteger,
                .meaning = "of the checkpoint; the last one by default",
                .minimum = 0,
                .is_optional = true}},
      .takes_arrays = true,
      .published =
          PublishedPlace{.run = PublishedPlace::Run::kOfFigure, .quantities = own_quantity},
      .make = make_blocks,
      .check = require_block_quantity};
}

}  // namespace hesscope::detail
