// SPDX-License-Identifier: BSD-3-Clause
//
// The work for one experiment: its runs are trained and measured, variant by variant, and then
// figures are made from all of them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/report/page.h>
#include <hesscope/reproduction/internal/experiment_catalog.h>
#include <hesscope/reproduction/internal/experiment_document.h>
#include <hesscope/reproduction/internal/experiment_results.h>
#include <hesscope/reproduction/internal/own_trainings.h>
#include <hesscope/reproduction/reproduction.h>
#include <hesscope/training/training.h>

namespace hesscope::detail {

/// Called with the fraction of a piece that is done; throws or returns false to stop the work.
using PieceProgress = std::function<bool(const std::string& what, double fraction)>;

ExperimentSummary summary_of(const ExperimentDocument& document);

/// Trains a variant's runs from all their seeds into OUTPUT/EXPERIMENT/VARIANT.
TrainingRequest training_request(const ReproductionRequest& request,
                                 const NamedExperiment& named,
                                 const ExperimentVariant& variant);

/// OUTPUT/EXPERIMENT/figures.
std::filesystem::path figures_of(const ReproductionRequest& request,
                                 const ExperimentDocument& document);

/// One experiment, piece by piece: compute_missing() for each variant in training order, then
/// compute_figures() and, for all runs together, draw(). Each of them throws OutputError,
/// LockedError and Interrupted, and adds its time to result().
class ExperimentReproduction {
 public:
  /// All three must outlive this.
  ExperimentReproduction(const ReproductionRequest& request,
                         const NamedExperiment& named,
                         const OwnTrainings& own);

  /// Trains and measures a variant; a part only its own runs.
  void compute_missing(const ExperimentVariant& variant, const PieceProgress& progress);

  /// Computes what figures need in addition.
  void compute_figures(const PieceProgress& progress);

  /// Writes the figures.
  void draw();

  const ReproducedExperiment& result() const { return result_; }

  /// Trainings of this call that were already finished.
  std::size_t num_found() const { return num_found_; }

  /// The figures of draw(), for the page over all experiments.
  report::Section section() && { return std::move(section_); }

 private:
  void apply(const ExperimentMeasure& measure,
             TrainedRun& run,
             const std::function<bool(double)>& progress);

  // Does some work on a figure, unless earlier work on it failed. An error is noted, and other
  // figures are still made, except for errors that end the whole run.
  void attempt(const ExperimentFigure& figure, const std::function<void()>& work);

  void draw(const ExperimentFigure& figure, const std::filesystem::path& folder);

  // Takes over the warnings and flags of a piece of work: of run_analysis() or a figure's kind.
  template <typename Piece>
  void take(const Piece& piece) {
    result_.warnings.insert(result_.warnings.end(), piece.warnings.begin(), piece.warnings.end());
    result_.is_conclusive = result_.is_conclusive && piece.is_conclusive;
    result_.is_done_already = result_.is_done_already && piece.is_done_already;
  }

  // Warns that something is missing in the result; a failure unless it is an outcome.
  void warn(std::string warning, bool is_outcome = false);

  // The variant with its start checkpoints, without the seeds for which there is none.
  ExperimentVariant started(ExperimentVariant variant);

  const ReproductionRequest& request_;
  const NamedExperiment& named_;
  const OwnTrainings& own_;
  const ExperimentDocument& document_;
  std::vector<TrainedRun> runs_;
  std::optional<ExperimentResults> results_;
  ReproducedExperiment result_;
  std::size_t num_found_ = 0;
  report::Section section_;
};

}  // namespace hesscope::detail
