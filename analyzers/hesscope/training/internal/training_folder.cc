// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/dataset/result_file.h>
#include <hesscope/storage/atomic_file.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/storage/overwrite.h>
#include <hesscope/training/internal/training_folder.h>

namespace hesscope::detail {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

// Removes what killed writers of checkpoints and problems left, including those of measures.
void remove_temporaries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool is_ours = name.starts_with(".step-") || name.starts_with(".problem.toml.") ||
                         name.starts_with(".problem-");
    if (is_ours && name.find(".tmp-") != std::string::npos) found.push_back(entry->path());
  }
  for (const fs::path& path : found) fs::remove(path, error);
}

std::optional<std::string> read_text(const fs::path& path) {
  constexpr std::uint64_t kMaxBytes = 1 << 20;
  try {
    return io::whole_text(io::InputFile(path, "a problem file"), kMaxBytes);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// Must be called before anything is created in the folder.
fs::path made_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder, error)) {
    throw OutputError(fmt::format("{}: cannot create the folder: {}",
                                  folder.string(),
                                  error ? error.message() : "a file is in the way"));
  }
  return folder;
}

}  // namespace

TrainingFolder::TrainingFolder(const TrainingSetup& setup,
                               const ExperimentRun& run,
                               std::uint64_t seed,
                               const fs::path& folder,
                               io::Overwrite overwrite,
                               std::string command)
    : setup_(&setup),
      schedule_(setup.experiment()),
      run_(&run),
      command_(std::move(command)),
      existing_(io::existing_of(overwrite)),
      checkpoints_(folder, setup.objective().model(), setup.trained()) {
  outcome_.run = run.name;
  outcome_.seed = seed;
  outcome_.folder = made_folder(folder);
  const io::RunConfiguration configuration = setup.configuration(run, seed);
  refuse_other_training(outcome_.folder, configuration, overwrite);
  const bool is_known = holds_training(outcome_.folder);
  units_.emplace(history_path(), "training", overwrite, io::Share(), configuration, [&] {
    io::ResultFile(history_path(), {.existing = existing_});
  });
  remove_temporaries(outcome_.folder);
  if (units_->is_done()) {
    const FinishedHistory history = read_history(history_path());
    outcome_.was_finished = true;
    outcome_.num_steps = outcome_.resumed_at = history.last.step;
    outcome_.status = history.has_diverged ? Status::kNonFinite : Status::kOk;
    outcome_.loss = history.last.loss;
    outcome_.gradient_norm = history.last.gradient_norm;
    outcome_.seconds = history.last.seconds;
    tell_flaws(history.flaws);
    for (const auto& [step, digest] : history.checkpoints) checkpoints_.expect(step, digest);
    if (std::error_code none; !fs::exists(problem_path(), none)) write_problem();
  } else {
    start_ = setup.start_of(seed);
    require_problem_replaceable(overwrite, is_known);
  }
}

bool holds_training(const fs::path& folder) {
  const fs::path history = history_file(folder);
  std::error_code none;
  return fs::exists(history, none) || io::has_units(history);
}

void refuse_other_training(const fs::path& folder,
                           const io::RunConfiguration& configuration,
                           io::Overwrite overwrite) {
  if (overwrite == io::Overwrite::kAnything) return;
  const fs::path history = history_file(folder);
  std::error_code none;
  if (fs::exists(history, none)) {
    if (overwrite == io::Overwrite::kOwnKind) return;  // UnitRun checks whether it is a result
    if (!is_result_about(history, "training")) {
      throw ConfigError(
          fmt::format("{}: is no history of a training; choose another output, or replace it by "
                      "`Overwrite::kAnything`",
                      history.string()));
    }
    const std::string difference = difference_of(history, configuration);
    if (difference.empty()) return;
    throw ConfigError(
        fmt::format("{}: is of a training that differs in {}; choose another output, or replace "
                    "it by `Overwrite::kOwnKind`",
                    history.string(),
                    difference));
  }
  if (io::has_units(history)) return;
  const std::vector<fs::path> strangers = checkpoints_in(folder);
  if (strangers.empty()) return;
  throw ConfigError(
      fmt::format("{}: a checkpoint of no training known here; choose another output, or replace "
                  "it by `Overwrite::kAnything`",
                  strangers.front().string()));
}

bool is_complete(const TrainingSetup& setup,
                 const ExperimentRun& run,
                 std::uint64_t seed,
                 const fs::path& folder) {
  const io::RunConfiguration configuration = setup.configuration(run, seed);
  refuse_other_training(folder, configuration, io::Overwrite::kNothing);
  const fs::path history = history_file(folder);
  if (!is_result_of(history, configuration)) return false;
  TrainingCheckpoints checkpoints(folder, setup.objective().model(), setup.trained());
  for (const auto& [step, digest] : read_history(history).checkpoints) {
    checkpoints.expect(step, digest);
  }
  return checkpoints.damaged_before(std::numeric_limits<std::int64_t>::max()).empty();
}

void TrainingFolder::require_problem_replaceable(io::Overwrite overwrite, bool is_known) const {
  if (read_text(problem_path()) == setup_->experiment().problem_toml(outcome_.folder)) return;
  io::require_replaceable(
      problem_path(), overwrite, "that of a training known here", [&] { return is_known; });
}

// Writes the problem only when it may be replaced, together with its checkpoints, so that it is
// never next to checkpoints of another problem.
void TrainingFolder::write_problem() const {
  const std::string text = setup_->experiment().problem_toml(outcome_.folder);
  if (read_text(problem_path()) == text) return;
  io::write_whole(problem_path(), text, io::Existing::kReplace);
}

void TrainingFolder::remove_checkpoints() {
  checkpoints_.clear();
  std::error_code error;
  fs::remove(history_path(), error);
  for (const fs::path& path : checkpoints_in(outcome_.folder)) {
    if (!error) fs::remove(path, error);
  }
  if (error) {
    throw OutputError(fmt::format("{}: cannot remove what an earlier training left: {}",
                                  outcome_.folder.string(),
                                  error.message()));
  }
}

bool TrainingFolder::make_checkpoints_again(std::int64_t end,
                                            const TrainingSet& fixed,
                                            const std::function<bool(std::int64_t)>& tick) {
  const std::vector<std::int64_t> damaged = checkpoints_.damaged_before(end);
  if (damaged.empty()) return true;
  const std::map<std::int64_t, std::string> before = checkpoints_.digests();
  const std::unique_ptr<BatchLoss> losses =
      setup_->losses(outcome_.seed, fixed, setup_->experiment().batch);
  const auto start = [&](const Eigen::VectorXd* parameters) {
    return setup_->make_run(
        *run_, parameters == nullptr ? setup_->start_of(outcome_.seed) : *parameters, *losses);
  };
  outcome_.made_again = checkpoints_.make_again(damaged, start, [&] { return tick(0); });
  for (const std::int64_t step : outcome_.made_again) {
    const std::string& known = before.at(step);
    const bool is_same = known.empty() || known == checkpoints_.digests().at(step);
    outcome_.warnings.push_back(
        fmt::format("{}: was missing or damaged; made again{}",
                    checkpoints_.path_of(step).string(),
                    is_same ? "" : ", and its bytes are others than before"));
  }
  return outcome_.made_again.size() == damaged.size();
}

bool TrainingFolder::restore(TrainingRun& run,
                             TrainingJournal& journal,
                             TrainingMonitors& monitors) {
  const std::vector<HistoryRow> rows = journal.rows();
  for (const std::vector<double>& packed : journal.states()) {
    const std::span<const double> state = std::span(packed).first(packed.size() - 1);
    const std::size_t num_rows = schedule_.rows_before(static_cast<std::int64_t>(state[0]));
    if (num_rows > rows.size() || !monitors.have_seen(std::span(rows).first(num_rows))) continue;
    run.restore(state);
    journal.seconds = packed.back();
    journal.truncate(schedule_.rows_before(run.num_steps()));
    // Registers all checkpoints that were due before, with what is known about them.
    for (std::int64_t step = 0; step < run.num_steps(); ++step) {
      if (schedule_.is_checkpoint_due(step)) checkpoints_.expect(step, "");
    }
    for (const auto& [step, digest] : journal.digests()) {
      if (checkpoints_.digests().contains(step)) checkpoints_.expect(step, digest);
    }
    return true;
  }
  return false;
}

HistoryRow TrainingFolder::look(const TrainingRun& run, BatchLoss& losses, double seconds) const {
  const GraphObjective& objective = setup_->objective();
  const auto [loss, gradient] =
      objective.value_and_gradient(run.parameters(), objective.all_samples());
  const double accuracy = objective.has_accuracy()
                              ? objective.accuracy(run.parameters(), objective.all_samples())
                              : kNaN;
  const double training_loss =
      setup_->is_full_batch() ? losses.value_and_gradient(run.parameters(), run.num_steps()).value
                              : kNaN;
  const Eigen::VectorXd moved = run.parameters() - start_;
  // Over the trained parameters.
  Wide squares, distances, starts;
  const auto blocks = objective.parameter_blocks();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (!setup_->trained()[b]) continue;
    const auto add = [&](const Eigen::VectorXd& all, Wide& sum) {
      sum += sum_of_squares(all.segment(blocks[b].offset, blocks[b].size));
    };
    add(gradient, squares);
    add(moved, distances);
    add(start_, starts);
  }
  const double distance = sqrt(distances).value();
  const double start_norm = sqrt(starts).value();
  return {.step = run.num_steps(),
          .loss = loss,
          .gradient_norm = norm(gradient),
          .batch_loss = run.batch_loss(),
          .training_loss = training_loss,
          .seconds = seconds,
          .distance = distance,
          .relative_distance = start_norm > 0 ? distance / start_norm : kNaN,
          .accuracy = accuracy,
          .trained_gradient_norm = sqrt(squares).value()};
}

bool TrainingFolder::train(const std::function<bool(std::int64_t)>& tick) {
  constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
  if (is_finished() && checkpoints_.damaged_before(kAll).empty()) return true;
  const ExperimentFile& experiment = setup_->experiment();
  const TrainingSet fixed = setup_->training_set(outcome_.seed);
  if (is_finished()) return make_checkpoints_again(kAll, fixed, tick);
  const std::unique_ptr<BatchLoss> losses = setup_->losses(outcome_.seed, fixed, experiment.batch);
  TrainingRun run = setup_->make_run(*run_, start_, *losses);
  TrainingMonitors monitors(*setup_, *run_, outcome_.seed, fixed, *units_);
  TrainingJournal journal(units_->folder(), run.state().size());
  if (journal.held_others()) {
    outcome_.warnings.push_back(
        fmt::format("{}: holds the states of another training, which are not gone on from",
                    units_->folder().path().string()));
  }
  if (restore(run, journal, monitors)) {
    if (!make_checkpoints_again(run.num_steps(), fixed, tick)) return false;
    for (const std::int64_t step : outcome_.made_again) {
      journal.add_digest(step, checkpoints_.digests().at(step));
    }
  } else {
    remove_checkpoints();
    journal.clear();
  }
  write_problem();
  outcome_.resumed_at = run.num_steps();
  tick(run.num_steps());

  Clock::time_point mark = Clock::now();
  const auto seconds_so_far = [&] {
    const Clock::time_point now = Clock::now();
    journal.seconds += seconds_between(mark, now);
    mark = now;
    return journal.seconds;
  };
  std::int64_t last_row = -1;
  const auto append_row = [&] {
    monitors.look(run, *losses);
    journal.append(look(run, *losses, seconds_so_far()));
    last_row = run.num_steps();
  };
  std::int64_t last_checkpoint = -1;
  const auto keep_checkpoint = [&] {
    seconds_so_far();
    journal.anchor(run);
    checkpoints_.write(run);
    journal.add_digest(run.num_steps(), checkpoints_.digests().at(run.num_steps()));
    last_checkpoint = run.num_steps();
  };
  const auto keep_state = [&] {
    seconds_so_far();
    journal.write(run);
  };
  Clock::time_point kept = mark;  // when the state was last written; `cost`: how long that took
  Clock::duration cost{0};
  try {
    while (true) {
      if (schedule_.is_row_due(run.num_steps())) append_row();
      if (schedule_.is_checkpoint_due(run.num_steps())) keep_checkpoint();
      if (run.num_steps() == experiment.num_steps || run.step() != Status::kOk) break;
      if (!tick(1)) {
        keep_state();
        return false;
      }
      // At most a twentieth of the time goes into the journal.
      const Clock::time_point begin = Clock::now();
      if (begin - kept < 20 * cost) continue;
      keep_state();
      kept = Clock::now();
      cost = kept - begin;
    }
  } catch (const Interrupted&) {  // in the middle of a step, which leaves the run unchanged
    keep_state();
    throw;
  }
  if (last_row != run.num_steps()) append_row();
  if (last_checkpoint != run.num_steps() && !run.has_diverged()) keep_checkpoint();
  finish(run, journal, monitors);
  return true;
}

void TrainingFolder::finish(const TrainingRun& run,
                            TrainingJournal& journal,
                            TrainingMonitors& monitors) {
  const std::vector<HistoryRow> rows = journal.rows();
  const std::vector<std::vector<Group>> records = monitors.records(rows);
  const auto num_looks =
      rows.size() - (run.has_diverged() ? 1 : 0);  // monitors find nothing in the last row
  const std::vector<std::string> flaws = monitors.flaws(records, std::span(rows).first(num_looks));
  write_history(history_path(),
                existing_,
                {.experiment = setup_->experiment(),
                 .run = *run_,
                 .seed = outcome_.seed,
                 .problem = setup_->experiment().problem_toml(outcome_.folder),
                 .command = command_,
                 .configuration = setup_->configuration(*run_, outcome_.seed),
                 .rows = rows,
                 .has_diverged = run.has_diverged(),
                 .has_accuracy = setup_->objective().has_accuracy(),
                 .monitors = setup_->monitors(),
                 .monitored = monitors.objective(),
                 .monitored_samples = monitors.samples_text(),
                 .records = records,
                 .flaws = flaws,
                 .checkpoints = checkpoints_.digests()});
  const std::vector<std::string>& remarks = units_->folder().remarks();
  outcome_.warnings.insert(outcome_.warnings.end(), remarks.begin(), remarks.end());
  tell_flaws(flaws);
  units_->finish();
  outcome_.num_steps = run.num_steps();
  outcome_.status = run.has_diverged() ? Status::kNonFinite : Status::kOk;
  outcome_.loss = rows.back().loss;
  outcome_.gradient_norm = rows.back().gradient_norm;
  outcome_.seconds = rows.back().seconds;
}

void TrainingFolder::tell_flaws(const std::vector<std::string>& flaws) {
  outcome_.has_all_looks = flaws.empty();
  for (const std::string& flaw : flaws) {
    outcome_.warnings.push_back(fmt::format("{}: {}", outcome_.folder.string(), flaw));
  }
}

}  // namespace hesscope::detail
