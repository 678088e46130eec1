// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <exception>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <hesscope/analysis/analysis.h>
#include <hesscope/analysis/internal/analysis_inputs.h>
#include <hesscope/core/error.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/core/suggest.h>
#include <hesscope/reproduction/internal/carried_files.h>
#include <hesscope/reproduction/internal/experiment_catalog.h>
#include <hesscope/reproduction/internal/experiment_results.h>
#include <hesscope/reproduction/internal/figure_support.h>
#include <hesscope/reproduction/internal/finished_result.h>
#include <hesscope/reproduction/internal/measure_request.h>
#include <hesscope/reproduction/internal/own_trainings.h>
#include <hesscope/reproduction/internal/reproduction_page.h>
#include <hesscope/reproduction/internal/training_order.h>
#include <hesscope/reproduction/reproduction.h>
#include <hesscope/training/training.h>

namespace hesscope {
namespace {

namespace fs = std::filesystem;
using detail::ExperimentDocument;
using detail::ExperimentMeasure;
using detail::ExperimentVariant;
using detail::NamedExperiment;
using detail::TrainedRun;

// Told the fraction of a piece; throws or returns false where the work is to stop.
using PieceProgress = std::function<bool(const std::string& what, double fraction)>;

ExperimentSummary summary_of(const ExperimentDocument& document) {
  return {.name = document.name,
          .title = document.title,
          .paper = document.paper,
          .figures = document.published_figures,
          .minutes_paper = document.minutes_paper,
          .minutes_quick = document.minutes_quick};
}

// run_training() puts a single run from a single seed into the output itself; here it has its
// folder like any other.
TrainingRequest training_of(const ReproductionRequest& request,
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

// A variant whose cost can be foreseen before what it starts from is there.
ExperimentVariant startable(ExperimentVariant variant) {
  if (!detail::starts_at_run(variant)) return variant;
  variant.experiment.start.reset();
  const std::vector<SettingKey> keys = {
      {.name = "value", .type = SettingKey::Type::kReal, .meaning = "of every entry"}};
  variant.experiment.initialization = {
      {"constant", Settings::checked({{"value", 0.0}}, keys, "constant")}, {}};
  return variant;
}

fs::path figures_of(const ReproductionRequest& request, const ExperimentDocument& document) {
  return request.output / document.name / "figures";
}

void refuse_other_figures(const ReproductionRequest& request,
                          const std::vector<NamedExperiment>& all) {
  detail::refuse_other_page(request.output, request.overwrite);
  for (const NamedExperiment& named : all) {
    detail::refuse_other_figures(
        figures_of(request, named.document), named.document, request.overwrite);
  }
}

// One experiment, piece by piece.
class Reproduction {
 public:
  Reproduction(const ReproductionRequest& request,
               const NamedExperiment& named,
               const detail::OwnTrainings& own)
      : request_(request),
        named_(named),
        own_(own),
        document_(named.document),
        section_(detail::section_of(document_)) {
    result_.about = summary_of(document_);
    result_.may_diverge = document_.may_diverge;
  }

  /// Trains and measures a variant, of a part its own runs.
  void compute_missing(const ExperimentVariant& variant, const PieceProgress& progress) {
    const Stopwatch watch(result_.seconds);
    const std::string what = fmt::format("{} {}", document_.name, variant.name);
    const double share = document_.measures.empty() ? 1 : 0.6;  // of training
    const ExperimentVariant ready = started(variant);
    if (!own_.has_any_of(document_, ready)) return;
    TrainingRequest training = training_of(request_, named_, ready);
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
      const bool has_failed = has_diverged && !document_.may_diverge;
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
          return progress(
              fmt::format("{}: {} of {}, seed {}", what, measure.name, run.run, run.seed),
              share + (1 - share) * (done + fraction) / count);
        });
        ++done;
      }
    }
    runs_.insert(runs_.end(), runs.begin(), runs.end());
  }

  /// Computes what figures need beyond that.
  void compute_figures(const PieceProgress& progress) {
    const Stopwatch watch(result_.seconds);
    result_.num_runs = runs_.size();
    results_.emplace(document_, std::move(runs_));
    for (const detail::ExperimentFigure& figure : document_.figures) {
      if (figure.kind->compute == nullptr) continue;
      const detail::FigureWork work = {
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

  /// Then writes them.
  void draw() {
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
    for (const detail::ExperimentFigure& figure : document_.figures) {
      attempt(figure, [&] { draw(figure, folder); });
    }
    for (const FailedFigure& failure : result_.failures) {
      section_.warnings.push_back(
          fmt::format("{} could not be made: {}", failure.name, failure.message));
    }
    for (const std::string& warning : result_.warnings) section_.warnings.push_back(warning);
  }

  const ReproducedExperiment& result() const { return result_; }

  /// Trainings of this call that were finished before.
  std::size_t num_found() const { return num_found_; }

  /// What draw() drew, for the page over all of them.
  report::Section section() && { return std::move(section_); }

 private:
  void apply(const ExperimentMeasure& measure,
             TrainedRun& run,
             const std::function<bool(double)>& progress) {
    if (!measure.covers(run.variant, run.run, run.seed)) return;
    AnalysisRequest request = detail::measure_request(document_, measure, run);
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
    request.overwrite = detail::overwrite_of_piece(request.output, request_.overwrite, [&] {
      return detail::open_inputs(request).configuration(request);
    });
    const AnalysisResult analysis =
        run_analysis(request, [&](std::size_t index, std::size_t count, double fraction) {
          return progress((static_cast<double>(index) + fraction) / static_cast<double>(count));
        });
    if (!progress(1)) throw Interrupted();
    run.measures.push_back(measure.name);
    take(analysis);
  }

  // Does some work on a figure, unless some of it failed before. An error there is noted, and other
  // figures are made; but for what ends the whole run.
  void attempt(const detail::ExperimentFigure& figure, const std::function<void()>& work) {
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

  void draw(const detail::ExperimentFigure& figure, const fs::path& folder) {
    detail::FigureContent content = figure.kind->make(*results_, figure);
    detail::finish_panels(figure, content.figure);
    detail::write_figure(folder, *results_, figure, content, request_.command(named_.given));
    detail::add_figure(document_, figure, content, section_);
    result_.figures.push_back({.name = figure.name,
                               .kind = figure.kind->name,
                               .published = figure.published,
                               .path = folder / figure.name,
                               .num_compared = content.num_compared,
                               .disagreements = content.disagreements,
                               .undecided = content.undecided});
  }

  // What is said of a piece of the work: by run_analysis() or a figure's kind.
  template <typename Piece>
  void take(const Piece& piece) {
    result_.warnings.insert(result_.warnings.end(), piece.warnings.begin(), piece.warnings.end());
    result_.is_conclusive = result_.is_conclusive && piece.is_conclusive;
    result_.is_done_already = result_.is_done_already && piece.is_done_already;
  }

  // Something is missing in the result, which is a failure unless it is an outcome.
  void warn(std::string warning, bool is_outcome = false) {
    result_.warnings.push_back(std::move(warning));
    result_.is_conclusive = result_.is_conclusive && is_outcome;
  }

  // The variant with the checkpoints it starts from, without the seeds of which there is none.
  ExperimentVariant started(ExperimentVariant variant) {
    if (!detail::starts_at_run(variant)) return variant;
    StartCheckpoint& start = *variant.experiment.start;
    const detail::StartRun source = detail::start_run(document_, variant);
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

  const ReproductionRequest& request_;
  const NamedExperiment& named_;
  const detail::OwnTrainings& own_;
  const ExperimentDocument& document_;
  std::vector<TrainedRun> runs_;
  std::optional<detail::ExperimentResults> results_;
  ReproducedExperiment result_;
  std::size_t num_found_ = 0;
  report::Section section_;
};

}  // namespace

std::vector<ExperimentSummary> list_experiments() {
  std::vector<ExperimentSummary> summaries;
  for (const NamedExperiment& named : detail::find_experiments({}, "paper")) {
    summaries.push_back(summary_of(named.document));
  }
  return summaries;
}

ReproductionResult run_reproduction(const ReproductionRequest& request,
                                    const ReproductionProgress& progress) {
  const std::vector<NamedExperiment> all = detail::find_experiments(
      request.experiments, request.scale, request.overrides, request.output);
  std::size_t count = 0;
  for (const NamedExperiment& named : all) count += named.document.variants.size();
  refuse_other_figures(request, all);
  detail::write_inputs(request.output, all);
  ReproductionResult result;
  {
    const Stopwatch watch(result.total_seconds);
    std::size_t index = 0;
    std::vector<report::Section> sections;
    const detail::OwnTrainings own(all, request.share.part);
    std::size_t num_found = 0;
    for (const NamedExperiment& named : all) {
      Reproduction reproduction(request, named, own);
      const PieceProgress piece = [&](const std::string& what, double fraction) {
        return !progress || progress(what, std::min(index, count - 1), count, fraction);
      };
      for (const std::size_t place : named.document.training_order) {
        reproduction.compute_missing(named.document.variants[place], piece);
        ++index;
      }
      reproduction.compute_figures(piece);
      if (!request.share.part) reproduction.draw();
      num_found += reproduction.num_found();
      result.experiments.push_back(reproduction.result());
      const ReproducedExperiment& done = result.experiments.back();
      result.is_conclusive = result.is_conclusive && done.is_conclusive;
      result.is_done_already = result.is_done_already && done.is_done_already;
      sections.push_back(std::move(reproduction).section());
    }
    if (request.share.part) {
      result.part = {.part = *request.share.part,
                     .num_units = own.num_all(),
                     .num_own = own.num_own(),
                     .num_found = num_found};
    } else {
      detail::write_page(request.output, std::move(sections));
      result.page = request.output / detail::kPageName;
      // Only now: before inputs were there, other parts may have written them, too.
      detail::remove_remnants_of_inputs(request.output, all);
    }
  }
  return result;
}

std::vector<PlannedExperiment> plan_reproduction(const ReproductionRequest& request) {
  std::vector<PlannedExperiment> plans;
  const detail::TemporaryFolder inputs;
  const std::vector<NamedExperiment> all = detail::find_experiments(
      request.experiments, request.scale, request.overrides, inputs.path());
  refuse_other_figures(request, all);
  detail::write_inputs(inputs.path(), all);
  for (const NamedExperiment& named : all) {
    PlannedExperiment plan;
    plan.about = summary_of(named.document);
    plan.num_variants = named.document.variants.size();
    for (const ExperimentVariant& variant : named.document.variants) {
      if (request.stop.stop_requested()) throw Interrupted();
      TrainingRequest foreseen = training_of(request, named, startable(variant));
      // What such a one starts from is not known yet, and so not whether what is there is the same.
      if (detail::starts_at_run(variant)) foreseen.overwrite = io::Overwrite::kAnything;
      const TrainingPlan training = plan_training(foreseen);
      plan.num_runs += training.outcomes.size();
      plan.peak_memory_bytes = std::max(plan.peak_memory_bytes, training.peak_memory_bytes);
      plan.training_seconds += training.seconds;
    }
    for (const detail::ExperimentFigure& figure : named.document.figures) {
      plan.figures.push_back(figure.name);
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace hesscope
