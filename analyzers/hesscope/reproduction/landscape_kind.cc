// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/figures/figure_registry.h>
#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/landscape/internal/landscape_inputs.h>
#include <hesscope/landscape/landscape.h>
#include <hesscope/reproduction/internal/experiment_figures.h>
#include <hesscope/reproduction/internal/finished_result.h>
#include <hesscope/reproduction/internal/grid_shape.h>
#include <hesscope/reproduction/internal/step_values.h>

namespace hesscope::detail {
namespace {

Grid grid_of(const ExperimentFigure& figure) {
  return parse_grid(figure.settings.text("grid"), figure.settings.text("span"));
}

// The options of each of its landscapes.
LandscapeOptions options_of(const ExperimentFigure& figure) {
  const Settings& settings = figure.settings;
  LandscapeOptions options;
  options.directions = settings.text("directions");
  options.grid = grid_of(figure);
  if (settings.has("normalization")) {
    const std::string& name = settings.text("normalization");
    options.normalization = name == "filter"  ? Normalization::kFilter
                            : name == "layer" ? Normalization::kLayer
                                              : Normalization::kNone;
  }
  options.curvature = settings.boolean("curvature");
  options.seed = static_cast<std::uint64_t>(settings.integer("direction_seed"));
  return options;
}

// The name of its result file in the folder of a run, without the extension.
std::string result_name(const ExperimentFigure& figure) { return "landscape-" + figure.name; }

void check_landscape(const ExperimentFigure& figure, const ExperimentDocument& document) {
  if (find_or_null(document.measures, result_name(figure)) != nullptr) {
    throw ConfigError(
        fmt::format("the landscapes of the figure '{}' and the measure '{}' are files of the same "
                    "name; name one of the two otherwise",
                    figure.name,
                    result_name(figure)));
  }
  const NamedDirections named = find_direction_kind(figure.settings.text("directions"));
  if (named.kind->min_checkpoints > 1) {
    throw ConfigError(
        fmt::format("directions '{}' take {} checkpoints or more; a figure of kind 'landscape' "
                    "looks at one",
                    named.kind->name,
                    named.kind->min_checkpoints));
  }
  checked_directions("landscape", options_of(figure), 1);
}

// The runs that a figure shows, by variant, run and seed.
std::vector<const TrainedRun*> runs_of(const ExperimentResults& results,
                                       const ExperimentFigure& figure,
                                       const std::vector<std::uint64_t>& seeds) {
  std::vector<const TrainedRun*> found;
  for (const std::string& variant : figure.variants) {
    for (const std::string& run : figure.runs) {
      for (const std::uint64_t seed : seeds) found.push_back(results.find(variant, run, seed));
    }
  }
  return found;
}

std::vector<std::uint64_t> seeds_of(const ExperimentResults& results,
                                    const ExperimentFigure& figure) {
  std::vector<std::uint64_t> seeds = results.seeds(figure.variants);
  if (figure.seeds.empty()) return seeds;
  std::erase_if(seeds, [&](std::uint64_t seed) {
    return std::find(figure.seeds.begin(), figure.seeds.end(), static_cast<std::int64_t>(seed)) ==
           figure.seeds.end();
  });
  return seeds;
}

// The checkpoint at the centre, for which compute() leaves a result in the run's folder. Nothing if
// the run did not get there; a result in the folder then belongs to another training.
std::optional<CheckpointFile> centre_of(const ExperimentResults& results,
                                        const ExperimentFigure& figure,
                                        const TrainedRun& run) {
  const std::int64_t step = figure.settings.has("step")
                                ? figure.settings.integer("step")
                                : results.variant(run.variant).experiment.num_steps;
  for (const CheckpointFile& file : expand_checkpoints({run.folder})) {
    if (file.step == step) return file;
  }
  return std::nullopt;
}

std::filesystem::path result_of(const ExperimentFigure& figure, const TrainedRun& run) {
  return run.folder / (result_name(figure) + ".h5");
}

LandscapeRequest request_of(const ExperimentFigure& figure,
                            const TrainedRun& run,
                            const CheckpointFile& centre,
                            const FigureWork& work) {
  LandscapeRequest request;
  static_cast<LandscapeOptions&>(request) = options_of(figure);
  request.checkpoints = {centre};
  request.problem = run.folder / "problem.toml";
  request.output = result_of(figure, run);
  request.share.merge_only = work.merge_only;
  request.num_threads = work.num_threads;
  request.stop = work.stop;
  request.command = work.command;
  return request;
}

FigureWorkDone compute(const ExperimentResults& results,
                       const ExperimentFigure& figure,
                       const FigureWork& work) {
  const std::vector<const TrainedRun*> runs = runs_of(results, figure, seeds_of(results, figure));
  FigureWorkDone all;
  double done = 0;
  const auto progress = [&](double fraction) {
    return work.progress((done + fraction) / static_cast<double>(runs.size()));
  };
  for (const TrainedRun* run : runs) {
    const std::optional<CheckpointFile> centre =
        run == nullptr ? std::nullopt : centre_of(results, figure, *run);
    if (centre) {
      LandscapeRequest request = request_of(figure, *run, *centre, work);
      request.overwrite = overwrite_of_piece(request.output, work.overwrite, [&] {
        return LandscapeInputs(request, {}).configuration();
      });
      const LandscapeResult result = run_landscape(request, progress);
      all.warnings.insert(all.warnings.end(), result.warnings.begin(), result.warnings.end());
      all.is_conclusive = all.is_conclusive && result.is_conclusive;
      all.is_done_already = all.is_done_already && result.is_done_already;
    } else if (run != nullptr) {
      const bool is_outcome = run->has_diverged && results.document().may_diverge;
      all.is_conclusive = all.is_conclusive && is_outcome;
      all.warnings.push_back(fmt::format("{}: the figure '{}' finds no checkpoint of its step{}",
                                         run->folder.string(),
                                         figure.name,
                                         run->has_diverged ? ": the run diverged before" : ""));
    }
    if (!progress(1)) throw Interrupted();
    ++done;
  }
  return all;
}

// Numbers of a plane, by name; all NaN if there is no plane.
struct PlaneNumber {
  const char* name;
  const char* heading;
  const char* long_name;
  const char* definition;
};

constexpr std::array kNumbers = {
    PlaneNumber{"centre_loss", "loss at the centre", "loss at the centre", "as /loss"},
    PlaneNumber{"minimum", "least", "least loss on the grid", "of the finite values"},
    PlaneNumber{"maximum", "largest", "largest loss on the grid", "of the finite values"},
    PlaneNumber{"convex_share",
                "convex",
                "share of the inner points where the loss is convex in the plane",
                "points where the matrix of central second differences is positive definite"},
    PlaneNumber{"num_minima",
                "minima",
                "number of local minima",
                "inner points below all their neighbours"},
    PlaneNumber{"roughness",
                "roughness",
                "share of the loss's spread that no quadratic explains",
                "root mean square of what the best quadratic polynomial of alpha and beta leaves, "
                "over the standard deviation on the grid"},
    PlaneNumber{"plane_lambda_min",
                "\u03bb_min in the plane",
                "smallest curvature at the centre within the plane",
                "as /landscape/plane_lambda_min"},
    PlaneNumber{"plane_lambda_max",
                "\u03bb_max in the plane",
                "largest curvature at the centre within the plane",
                "as /landscape/plane_lambda_max"},
    PlaneNumber{"index_zero_share",
                "no negative eigenvalue",
                "share of the points at which the Hessian has no negative eigenvalue",
                "of /landscape/index, which curvature = true stores; NaN without"}};

std::vector<std::string> number_names(const ExperimentFigure& /*figure*/) {
  return names_of(kNumbers);
}

std::array<double, kNumbers.size()> numbers_of(const io::ResultReader& file,
                                               const std::vector<double>& losses) {
  const Eigen::Index num_points = std::ssize(losses);
  const GridShape shape =
      grid_shape(figures::read_numbers(file, io::kLandscapeGroup, "alpha", 1).reals(),
                 figures::read_numbers(file, io::kLandscapeGroup, "beta", 1).reals(),
                 losses);
  double index_zero = kNaN;
  if (file.find(io::kLandscapeGroup, "index") != nullptr) {
    const std::vector<double> index =
        figures::read_numbers(file, io::kLandscapeGroup, "index", 2).reals();
    index_zero = static_cast<double>(std::count(index.begin(), index.end(), 0.0)) /
                 static_cast<double>(num_points);
  }
  return {file.read_doubles("", "loss").back(),
          shape.minimum,
          shape.maximum,
          shape.convex_share,
          static_cast<double>(shape.num_minima),
          shape.roughness,
          figures::read_number(file, io::kLandscapeGroup, "plane_lambda_min"),
          figures::read_number(file, io::kLandscapeGroup, "plane_lambda_max"),
          index_zero};
}

FigureContent make_landscape(const ExperimentResults& results, const ExperimentFigure& figure) {
  const std::vector<std::uint64_t> seeds = seeds_of(results, figure);
  const Grid grid = grid_of(figure);
  const bool has_curvature = figure.settings.boolean("curvature");
  const std::size_t num_shown = kNumbers.size() - (has_curvature ? 0 : 1);
  FigureContent content;
  std::vector<double> surface;
  std::array<std::vector<double>, kNumbers.size()> numbers;
  std::vector<std::string> headings;
  for (std::size_t k = 0; k < num_shown; ++k) headings.emplace_back(kNumbers[k].heading);
  RunTable table(results, figure, std::move(headings));
  const figures::FigureKind& drawing = figures::find_figure_kind("landscape");
  std::vector<std::vector<std::vector<double>>> over_seeds;  // by row of the table and number
  for (const std::string& variant : figure.variants) {
    for (const std::string& name : figure.runs) {
      std::vector<std::vector<double>> columns(kNumbers.size());
      bool is_drawn = false;
      for (const std::uint64_t seed : seeds) {
        const TrainedRun* run = results.find(variant, name, seed);
        std::vector<double> losses(static_cast<std::size_t>(grid.num_points()), kNaN);
        std::array<double, kNumbers.size()> found;
        found.fill(kNaN);
        if (run != nullptr && centre_of(results, figure, *run)) {
          const io::ResultReader file(result_of(figure, *run));
          losses = figures::read_numbers(file, io::kLandscapeGroup, "loss", 2).reals();
          found = numbers_of(file, losses);
          if (!is_drawn) {
            const figures::Source source{&file, variant};
            plot::Figure drawn = figures::draw_figure(drawing, std::array{source}, {});
            plot::Panel& panel = drawn.panels.front();
            panel.title = panel_title(results, figure, variant, name);
            if (seeds.size() > 1) panel.note = fmt::format("seed {}", seed);
            content.figure.panels.push_back(std::move(panel));
            is_drawn = true;
          }
        }
        surface.insert(surface.end(), losses.begin(), losses.end());
        for (std::size_t k = 0; k < found.size(); ++k) columns[k].push_back(found[k]);
      }
      std::vector<std::string> cells;
      for (std::size_t k = 0; k < kNumbers.size(); ++k) {
        numbers[k].insert(numbers[k].end(), columns[k].begin(), columns[k].end());
        if (k < num_shown) cells.push_back(mean_text(seed_statistics(columns[k])));
      }
      table.add(variant, name, std::move(cells));
      over_seeds.push_back(std::move(columns));
    }
  }
  if (content.figure.panels.empty()) content.figure = table_figure(figure, table.rows());
  content.data.dimensions = {
      variant_dimension(figure), run_dimension(figure), seed_dimension(seeds)};
  const auto axis = [&](const char* name, const Eigen::VectorXd& values) {
    content.data.dimensions.push_back({.name = name, .size = values.size()});
    content.data.add({.name = name,
                      .dimensions = {name},
                      .long_name = fmt::format("coordinate {}", name),
                      .definition = "factor of a direction at a point of the plane",
                      .values = std::vector<double>(values.begin(), values.end())});
  };
  axis("beta", grid.beta);
  axis("alpha", grid.alpha);
  content.data.add({.name = "loss",
                    .dimensions = {"variant", "run", "seed", "beta", "alpha"},
                    .long_name = "loss on the plane",
                    .definition = "as /landscape/loss of each run's landscape",
                    .values = std::move(surface)});
  for (std::size_t k = 0; k < kNumbers.size(); ++k) {
    content.data.add({.name = kNumbers[k].name,
                      .dimensions = {"variant", "run", "seed"},
                      .long_name = kNumbers[k].long_name,
                      .definition = kNumbers[k].definition,
                      .values = std::move(numbers[k])});
  }
  content.figure.title = figure.title;
  content.figure.columns =
      static_cast<int>(std::clamp<std::size_t>(content.figure.panels.size(), 1, 3));
  content.figure.description = fmt::format("Loss on planes through a checkpoint, directions {}",
                                           figure.settings.text("directions"));
  content.text =
      fmt::format(
          "Loss on planes through the checkpoint {}, directions `{}` (seed {}), {} points "
          "over {}: mean over {} seed{} (sample standard deviation); drawn is the first. "
          "Convex: share of the inner points where second differences in the plane are "
          "positive definite; roughness: what the best quadratic leaves of the spread.\n\n",
          figure.settings.has("step") ? fmt::format("of step {}", figure.settings.integer("step"))
                                      : "at the end",
          figure.settings.text("directions"),
          figure.settings.integer("direction_seed"),
          figure.settings.text("grid"),
          figure.settings.text("span"),
          seeds.size(),
          seeds.size() == 1 ? "" : "s") +
      markdown_table(table.rows());
  compare_with_published(
      results,
      figure,
      [&](const PublishedValue& value, std::size_t variant, std::size_t run) {
        const std::size_t row = variant * figure.runs.size() + run;
        for (std::size_t k = 0; k < kNumbers.size(); ++k) {
          if (value.quantity == kNumbers[k].name) return seed_statistics(over_seeds[row][k]);
        }
        return SeedStatistics();
      },
      content);
  return content;
}

}  // namespace

ExperimentFigureKind landscape_kind() {
  using Type = SettingKey::Type;
  return {.name = "landscape",
          .summary = "the loss on a plane through a checkpoint of each variant and run",
          .keys = {{.name = "directions", .meaning = "KIND or KIND:ARGUMENT, as for a landscape"},
                   {.name = "grid",
                    .meaning = "points NxM",
                    .fallback = SettingValue(std::string("25x25"))},
                   {.name = "span",
                    .meaning = "ends of the axes A:B or A:B,C:D",
                    .fallback = SettingValue(std::string("-1:1"))},
                   {.name = "normalization",
                    .meaning = "how random directions are scaled",
                    .choices = {"filter", "layer", "none"},
                    .is_optional = true},
                   {.name = "direction_seed",
                    .type = Type::kInteger,
                    .meaning = "of random directions",
                    .minimum = 0,
                    .fallback = SettingValue(std::int64_t{0})},
                   {.name = "curvature",
                    .type = Type::kBoolean,
                    .meaning = "also the exact Hessian at every point",
                    .fallback = SettingValue(false)},
                   {.name = "step",
                    .type = Type::kInteger,
                    .meaning = "of the checkpoint; the last one by default",
                    .minimum = 0,
                    .is_optional = true}},
          .takes_seeds = true,
          .has_equal_axes = true,
          .published =
              PublishedPlace{.run = PublishedPlace::Run::kOfFigure, .quantities = number_names},
          .make = make_landscape,
          .check = check_landscape,
          .compute = compute};
}

}  // namespace hesscope::detail
