// SPDX-License-Identifier: BSD-3-Clause
//
// The work that one experiment takes: its runs are trained and measured, variant by variant, and
// figures made of all of them.
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

/// Told the fraction of a piece; throws or returns false where the work is to stop.
using PieceProgress = std::function<bool(const std::string& what, double fraction)>;

ExperimentSummary summary_of(const ExperimentDocument& document);

/// A variant's runs from all their seeds, into OUTPUT/EXPERIMENT/VARIANT.
TrainingRequest training_request(const ReproductionRequest& request,
                                 const NamedExperiment& named,
                                 const ExperimentVariant& variant);

/// OUTPUT/EXPERIMENT/figures.
std::filesystem::path figures_of(const ReproductionRequest& request,
                                 const ExperimentDocument& document);

/// One experiment, piece by piece: compute_missing() for each variant in training order, then
/// compute_figures() and, of all runs, draw(). Each of them throws OutputError, LockedError and
/// Interrupted, and adds its time to result().
class ExperimentReproduction {
 public:
  /// All three must outlive this.
  ExperimentReproduction(const ReproductionRequest& request,
                         const NamedExperiment& named,
                         const OwnTrainings& own);

  /// Trains and measures a variant, of a part its own runs.
  void compute_missing(const ExperimentVariant& variant, const PieceProgress& progress);

  /// Computes what figures need beyond that.
  void compute_figures(const PieceProgress& progress);

  /// Then writes them.
  void draw();

  const ReproducedExperiment& result() const { return result_; }

  /// Trainings of this call that were finished before.
  std::size_t num_found() const { return num_found_; }

  /// What draw() drew, for the page over all of them.
  report::Section section() && { return std::move(section_); }

 private:
  void apply(const ExperimentMeasure& measure,
             TrainedRun& run,
             const std::function<bool(double)>& progress);

  // Does some work on a figure, unless some of it failed before. An error there is noted, and other
  // figures are made; but for what ends the whole run.
  void attempt(const ExperimentFigure& figure, const std::function<void()>& work);

  void draw(const ExperimentFigure& figure, const std::filesystem::path& folder);

  // What is said of a piece of the work: by run_analysis() or a figure's kind.
  template <typename Piece>
  void take(const Piece& piece) {
    result_.warnings.insert(result_.warnings.end(), piece.warnings.begin(), piece.warnings.end());
    result_.is_conclusive = result_.is_conclusive && piece.is_conclusive;
    result_.is_done_already = result_.is_done_already && piece.is_done_already;
  }

  // Something is missing in the result, which is a failure unless it is an outcome.
  void warn(std::string warning, bool is_outcome = false);

  // The variant with the checkpoints it starts from, without the seeds of which there is none.
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
