// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <exception>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <hesscope/analysis/analysis.h>
#include <hesscope/analysis/internal/analysis_inputs.h>
#include <hesscope/core/error.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/core/suggest.h>
#include <hesscope/reproduction/internal/experiment_reproduction.h>
#include <hesscope/reproduction/internal/figure_support.h>
#include <hesscope/reproduction/internal/finished_result.h>
#include <hesscope/reproduction/internal/measure_request.h>
#include <hesscope/reproduction/internal/reproduction_page.h>
#include <hesscope/reproduction/internal/training_order.h>

namespace hesscope::detail {
namespace {

namespace fs = std::filesystem;

}  // namespace

ExperimentSummary summary_of(const ExperimentDocument& document) {
  return {.name = document.name,
          .title = document.title,
          .paper = document.paper,
          .figures = document.published_figures,
          .minutes_paper = document.minutes_paper,
          .minutes_quick = document.minutes_quick};
}

// run_training() would put a single run from a single seed into the output itself; here it gets a
// folder like any other.
TrainingRequest training_request(const ReproductionRequest& request,
                                 const NamedExperiment& named,
                                 const ExperimentVariant& variant) {
  const ExperimentFile& experiment = variant.experiment;
  fs::path folder = request.output / named.document.name / variant.name;
  if (experiment.runs.size() * experiment.seeds.size() == 1) {
    folder = run_folder(folder, experiment.runs.front().name, experiment.seeds.front());
  }
  return {.experiment = experiment.path,
          .document = experiment,
          .output = std::move(folder),
          .run = {},
          .seed = {},
          .overwrite = request.overwrite,
          .share = {.merge_only = request.share.merge_only},
          .num_threads = request.num_threads,
          .stop = request.stop,
          .command = request.command(named.given)};
}

fs::path figures_of(const ReproductionRequest& request, const ExperimentDocument& document) {
  return request.output / document.name / "figures";
}

ExperimentReproduction::ExperimentReproduction(const ReproductionRequest& request,
                                               const NamedExperiment& named,
                                               const OwnTrainings& own)
    : request_(request),
      named_(named),
      own_(own),
      document_(named.document),
      section_(section_of(document_)) {
  result_.about = summary_of(document_);
  result_.may_diverge = document_.may_diverge;
}

void ExperimentReproduction::compute_missing(const ExperimentVariant& variant,
                                             const PieceProgress& progress) {
  const Stopwatch watch(result_.seconds);
  const std::string what = fmt::format("{} {}", document_.name, variant.name);
  const double share = document_.measures.empty() ? 1 : 0.6;  // of training
  const ExperimentVariant ready = started(variant);
  if (!own_.has_any_of(document_, ready)) return;
  TrainingRequest training = training_request(request_, named_, ready);
  training.covers = [&](const std::string& run, std::uint64_t seed) {
    return own_.has(document_, variant.name, run, seed);
  };
  const TrainingResult trained = run_training(
      training, [&](double fraction) { return progress(what + ": training", share * fraction); });
  std::vector<TrainedRun> runs;
  for (const TrainingOutcome& outcome : trained.outcomes) {
    const bool has_diverged = outcome.status != Status::kOk;
    const std::vector<std::string>& warnings = outcome.warnings;
    result_.warnings.insert(result_.warnings.end(), warnings.begin(), warnings.end());
    if (outcome.was_finished) ++num_found_;
    const bool has_failed = (has_diverged && !document_.may_diverge) || !outcome.has_all_looks;
    result_.is_conclusive = result_.is_conclusive && !has_failed;
    result_.is_done_already =
        result_.is_done_already && outcome.was_finished && outcome.made_again.empty();
    runs.push_back({.variant = variant.name,
                    .run = outcome.run,
                    .seed = outcome.seed,
                    .folder = outcome.folder,
                    .num_steps = outcome.num_steps,
                    .has_diverged = has_diverged});
    if (!has_diverged) continue;
    result_.diverged.push_back({.variant = variant.name,
                                .run = outcome.run,
                                .seed = outcome.seed,
                                .step = outcome.num_steps + 1});
  }
  const auto count = static_cast<double>(runs.size() * document_.measures.size());
  double done = 0;
  for (TrainedRun& run : runs) {
    for (const ExperimentMeasure& measure : document_.measures) {
      apply(measure, run, [&](double fraction) {
        return progress(fmt::format("{}: {} of {}, seed {}", what, measure.name, run.run, run.seed),
                        share + (1 - share) * (done + fraction) / count);
      });
      ++done;
    }
  }
  runs_.insert(runs_.end(), runs.begin(), runs.end());
}

void ExperimentReproduction::compute_figures(const PieceProgress& progress) {
  const Stopwatch watch(result_.seconds);
  result_.num_runs = runs_.size();
  results_.emplace(document_, std::move(runs_));
  for (const ExperimentFigure& figure : document_.figures) {
    if (figure.kind->compute == nullptr) continue;
    const FigureWork work = {
        .overwrite = request_.overwrite,
        .merge_only = request_.share.merge_only,
        .num_threads = request_.num_threads,
        .stop = request_.stop,
        .command = request_.command(named_.given),
        .progress = [&](double fraction) {
          return progress(fmt::format("{}: figure {}", document_.name, figure.name), fraction);
        }};
    attempt(figure, [&] { take(figure.kind->compute(*results_, figure, work)); });
  }
}

void ExperimentReproduction::draw() {
  const Stopwatch watch(result_.seconds);
  const fs::path folder = figures_of(request_, document_);
  if (!document_.figures.empty()) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) {
      throw OutputError(
          fmt::format("{}: cannot create the folder: {}", folder.string(), error.message()));
    }
  }
  for (const ExperimentFigure& figure : document_.figures) {
    attempt(figure, [&] { draw(figure, folder); });
  }
  for (const FailedFigure& failure : result_.failures) {
    section_.warnings.push_back(
        fmt::format("{} could not be made: {}", failure.name, failure.message));
  }
  for (const std::string& warning : result_.warnings) section_.warnings.push_back(warning);
}

void ExperimentReproduction::apply(const ExperimentMeasure& measure,
                                   TrainedRun& run,
                                   const std::function<bool(double)>& progress) {
  if (!measure.covers(run.variant, run.run, run.seed)) return;
  AnalysisRequest request = measure_request(document_, measure, run);
  if (request.checkpoints.empty()) {
    warn(fmt::format("{}: none of the checkpoints of the measure '{}' is there{}",
                     run.folder.string(),
                     measure.name,
                     run.has_diverged ? ": the run diverged before" : ""),
         run.has_diverged && document_.may_diverge);
    return;
  }
  request.share.merge_only = request_.share.merge_only;
  request.num_threads = request_.num_threads;
  request.stop = request_.stop;
  request.command = request_.command(named_.given);
  request.overwrite = overwrite_of_piece(request.output, request_.overwrite, [&] {
    return open_inputs(request).configuration(request);
  });
  const AnalysisResult analysis =
      run_analysis(request, [&](std::size_t index, std::size_t count, double fraction) {
        return progress((static_cast<double>(index) + fraction) / static_cast<double>(count));
      });
  if (!progress(1)) throw Interrupted();
  run.measures.push_back(measure.name);
  take(analysis);
}

void ExperimentReproduction::attempt(const ExperimentFigure& figure,
                                     const std::function<void()>& work) {
  if (find_or_null(result_.failures, figure.name) != nullptr) return;
  try {
    work();
  } catch (const Interrupted&) {
    throw;
  } catch (const LockedError&) {
    throw;
  } catch (const io::MissingPartsError&) {
    throw;
  } catch (const std::exception& error) {
    result_.failures.push_back({figure.name, error.what(), std::current_exception()});
    result_.is_conclusive = false;
    result_.is_done_already = false;
  }
}

void ExperimentReproduction::draw(const ExperimentFigure& figure, const fs::path& folder) {
  FigureContent content = figure.kind->make(*results_, figure);
  finish_panels(figure, content.figure);
  write_figure(folder, *results_, figure, content, request_.command(named_.given));
  add_figure(document_, figure, content, section_);
  result_.figures.push_back({.name = figure.name,
                             .kind = figure.kind->name,
                             .published = figure.published,
                             .path = folder / figure.name,
                             .num_compared = content.num_compared,
                             .disagreements = content.disagreements,
                             .undecided = content.undecided});
}

void ExperimentReproduction::warn(std::string warning, bool is_outcome) {
  result_.warnings.push_back(std::move(warning));
  result_.is_conclusive = result_.is_conclusive && is_outcome;
}

ExperimentVariant ExperimentReproduction::started(ExperimentVariant variant) {
  if (!starts_at_run(variant)) return variant;
  StartCheckpoint& start = *variant.experiment.start;
  const StartRun source = start_run(document_, variant);
  const ExperimentVariant& from = document_.variants[source.variant];
  start.path = request_.output / document_.name / from.name / source.run / "seed-{seed}" /
               fmt::format("step-{:06d}.h5", from.experiment.num_steps);
  std::erase_if(variant.experiment.seeds, [&](std::uint64_t seed) {
    if (!own_.has(document_, from.name, source.run, seed)) return true;
    const bool is_there = std::any_of(runs_.begin(), runs_.end(), [&](const TrainedRun& run) {
      return run.variant == from.name && run.run == source.run && run.seed == seed &&
             !run.has_diverged;
    });
    if (!is_there) {
      warn(fmt::format("variant '{}' is not trained from seed {}: {}, where it starts, diverged",
                       variant.name,
                       seed,
                       start.run));
    }
    return !is_there;
  });
  return variant;
}

}  // namespace hesscope::detail
