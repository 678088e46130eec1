// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <string>

#include <fmt/format.h>

#include <hesscope/analysis/internal/analysis_summary.h>
#include <hesscope/analysis/internal/checked_answers.h>
#include <hesscope/analysis/internal/checkpoint_records.h>
#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/training/internal/run_optimizer.h>
#include <hesscope/training/internal/training_monitors.h>

namespace hesscope::detail {
namespace {

std::string unit_of(const Monitor& monitor, std::int64_t step) {
  return unit_name(static_cast<std::size_t>(step), monitor.name);
}

}  // namespace

TrainingMonitors::TrainingMonitors(const TrainingSetup& setup,
                                   const ExperimentRun& run,
                                   std::uint64_t seed,
                                   const TrainingSet& fixed,
                                   UnitRun& units)
    : setup_(&setup), run_(&run), seed_(seed), units_(&units), has_training_set_(fixed != nullptr) {
  if (!setup.monitors().empty()) objective_ = setup.monitored(fixed);
}

std::string TrainingMonitors::samples_text() const {
  return has_training_set_
             ? "those that updates are made from; loss and gradient_norm of the root are of the "
               "evaluation samples"
             : "the evaluation samples, as updates are made from fresh ones";
}

bool TrainingMonitors::have_seen(std::span<const HistoryRow> rows) {
  for (const Monitor& monitor : setup_->monitors()) {
    for (const HistoryRow& row : rows) {
      if (!units_->find(unit_of(monitor, row.step))) return false;
    }
  }
  return true;
}

// The current parameters and those after the next update, which another run with the same settings
// computes, because this one has not got there. Without the latter if that update diverges.
std::vector<Eigen::VectorXd> TrainingMonitors::path_from(const TrainingRun& run,
                                                         BatchLoss& losses) const {
  std::vector<Eigen::VectorXd> path = {run.parameters()};
  TrainingRun ahead = setup_->make_run(*run_, run.parameters(), losses);
  ahead.restore(run.state());
  if (ahead.step() == Status::kOk) path.push_back(ahead.parameters());
  return path;
}

void TrainingMonitors::look(const TrainingRun& run, BatchLoss& losses) {
  if (objective_ == nullptr) return;
  const std::vector<Eigen::VectorXd> path = path_from(run, losses);
  PointAnalysis point(*objective_, run.parameters(), {.seed = seed_});
  point.set_model_samples({.model = &objective_->model(), .samples = &objective_->samples()});
  point.set_optimizer(optimizer_of(run, objective_->parameter_blocks(), setup_->trained()));
  point.set_given_settings(given_settings(setup_->monitors()));
  point.set_trajectory(std::make_shared<Trajectory>(path, KnownOfRun::kFromHere), 0);
  for (const Monitor& each : setup_->monitors()) {
    units_->keep(unit_of(each, run.num_steps()), answer_at(each, point));
  }
}

std::vector<std::vector<Group>> TrainingMonitors::records(std::span<const HistoryRow> rows) {
  std::vector<std::vector<Group>> result;
  for (const Monitor& monitor : setup_->monitors()) {
    std::vector<Group>& seen = result.emplace_back();
    for (const HistoryRow& row : rows) {
      seen.push_back(units_->read(unit_of(monitor, row.step)));
    }
  }
  return result;
}

std::vector<std::string> TrainingMonitors::flaws(std::span<const std::vector<Group>> records,
                                                 std::span<const HistoryRow> rows) const {
  std::vector<std::string> sentences;
  for (std::size_t m = 0; m < records.size(); ++m) {
    std::string first;
    std::size_t count = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::vector<std::string> of_row = flaws_of(records[m][r]);
      if (of_row.empty()) continue;
      if (count++ == 0) first = fmt::format("{} (step {})", of_row.front(), rows[r].step);
    }
    if (count == 0) continue;
    sentences.push_back(fmt::format("monitor {}: {} of {} looks lack numbers: {}",
                                    setup_->monitors()[m].name,
                                    count,
                                    rows.size(),
                                    first));
  }
  return sentences;
}

}  // namespace hesscope::detail
