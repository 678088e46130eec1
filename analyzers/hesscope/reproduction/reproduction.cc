// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <hesscope/core/error.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/reproduction/internal/carried_files.h>
#include <hesscope/reproduction/internal/experiment_catalog.h>
#include <hesscope/reproduction/internal/experiment_reproduction.h>
#include <hesscope/reproduction/internal/figure_support.h>
#include <hesscope/reproduction/internal/own_trainings.h>
#include <hesscope/reproduction/internal/reproduction_page.h>
#include <hesscope/reproduction/internal/training_order.h>
#include <hesscope/reproduction/reproduction.h>
#include <hesscope/training/training.h>

namespace hesscope {
namespace {

using detail::ExperimentVariant;
using detail::NamedExperiment;

// A variant whose cost can be estimated before its start checkpoint exists.
ExperimentVariant startable(ExperimentVariant variant) {
  if (!detail::starts_at_run(variant)) return variant;
  variant.experiment.start.reset();
  const std::vector<SettingKey> keys = {
      {.name = "value", .type = SettingKey::Type::kReal, .meaning = "of every entry"}};
  variant.experiment.initialization = {
      {"constant", Settings::checked({{"value", 0.0}}, keys, "constant")}, {}};
  return variant;
}

void refuse_other_figures(const ReproductionRequest& request,
                          const std::vector<NamedExperiment>& all) {
  detail::refuse_other_page(request.output, request.overwrite);
  for (const NamedExperiment& named : all) {
    detail::refuse_other_figures(
        detail::figures_of(request, named.document), named.document, request.overwrite);
  }
}

}  // namespace

std::vector<ExperimentSummary> list_experiments() {
  std::vector<ExperimentSummary> summaries;
  for (const NamedExperiment& named : detail::find_experiments({}, "paper")) {
    summaries.push_back(detail::summary_of(named.document));
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
      detail::ExperimentReproduction reproduction(request, named, own);
      const detail::PieceProgress piece = [&](const std::string& what, double fraction) {
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
      // Not earlier: until the inputs existed, other parts may have been writing them, too.
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
    plan.about = detail::summary_of(named.document);
    plan.num_variants = named.document.variants.size();
    for (const ExperimentVariant& variant : named.document.variants) {
      if (request.stop.stop_requested()) throw Interrupted();
      TrainingRequest foreseen = detail::training_request(request, named, startable(variant));
      // The start of such a variant is not known yet, so neither is whether an existing result is
      // the same.
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
