// SPDX-License-Identifier: BSD-3-Clause
//
// Analyzers that look at a running training, at every row of its history.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <hesscope/analysis/internal/unit_run.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/training/internal/history_file.h>
#include <hesscope/training/internal/training_setup.h>

namespace hesscope::detail {

/// The monitors of one run from one seed; the answer of each of them at a row is a unit.
class TrainingMonitors {
 public:
  /// Everything but `fixed` must outlive the object.
  TrainingMonitors(const TrainingSetup& setup,
                   const ExperimentRun& run,
                   std::uint64_t seed,
                   const TrainingSet& fixed,
                   UnitRun& units);

  /// Whether the answers of all of them at these rows are stored.
  bool have_seen(std::span<const HistoryRow> rows);

  /// Analyzes the current state of the run by all monitors, and stores their answers.
  void look(const TrainingRun& run, BatchLoss& losses);

  /// For each monitor, its answers at each row.
  std::vector<std::vector<Group>> records(std::span<const HistoryRow> rows);

  /// A sentence for each monitor that did not find all numbers at these rows, which are the first
  /// of records().
  std::vector<std::string> flaws(std::span<const std::vector<Group>> records,
                                 std::span<const HistoryRow> rows) const;

  /// What they look at; null if there are none.
  const GraphObjective* objective() const { return objective_.get(); }

  /// The samples of that objective in words, for the history.
  std::string samples_text() const;

 private:
  std::vector<Eigen::VectorXd> path_from(const TrainingRun& run, BatchLoss& losses) const;

  const TrainingSetup* setup_;
  const ExperimentRun* run_;
  std::uint64_t seed_;
  UnitRun* units_;
  bool has_training_set_;  // otherwise they look at the evaluation samples
  std::unique_ptr<GraphObjective> objective_;
};

}  // namespace hesscope::detail
