// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <hesscope/analysis/internal/analysis_costs.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/core/name_list.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/core/suggest.h>
#include <hesscope/training/internal/training_folder.h>
#include <hesscope/training/internal/training_setup.h>
#include <hesscope/training/training.h>

namespace hesscope {
namespace {

namespace fs = std::filesystem;
using detail::TrainingFolder;
using detail::TrainingSetup;

constexpr std::string_view kSeedFolder = "seed-";  // of a run from the seed that follows

struct Job {
  const ExperimentRun* run;
  std::uint64_t seed;
  fs::path folder;
};

ExperimentFile experiment_of(const TrainingRequest& request) {
  ExperimentFile experiment =
      request.document ? *request.document : read_experiment_file(request.experiment);
  if (request.seed) experiment.seeds = {*request.seed};
  for (const std::string& name : request.monitors) {
    if (std::ranges::find(experiment.monitors, name) != experiment.monitors.end()) continue;
    find_analyzer_kind(name);  // refuses unknown names
    experiment.monitors.push_back(name);
  }
  return experiment;
}

// One run from one seed uses OUTPUT itself, and several use folders below it. OUTPUT never has
// both, because readers of checkpoints would see only one of them.
void refuse_other_layout(const fs::path& output, const ExperimentFile& experiment, bool is_one) {
  if (!is_one) {
    if (!detail::holds_training(output)) return;
    throw ConfigError(fmt::format(
        "{}: holds a training of one run from one seed, and several would have folders below it; "
        "choose another output",
        output.string()));
  }
  for (const ExperimentRun& run : experiment.runs) {
    std::error_code error;  // if there is no such folder
    for (fs::directory_iterator entry(output / run.name, error), end; !error && entry != end;
         entry.increment(error)) {
      const bool is_of_seed = entry->path().filename().string().starts_with(kSeedFolder);
      if (!is_of_seed || !detail::holds_training(entry->path())) continue;
      throw ConfigError(
          fmt::format("{}: holds the trainings of several runs or seeds, {} for one, each in a "
                      "folder of its own; choose another output for one run from one seed",
                      output.string(),
                      entry->path().string()));
    }
  }
}

std::vector<Job> jobs_of(const TrainingRequest& request, const ExperimentFile& experiment) {
  std::vector<const ExperimentRun*> runs;
  std::vector<std::string> names;
  for (const ExperimentRun& run : experiment.runs) {
    names.push_back(run.name);
    if (request.run.empty() || request.run == run.name) runs.push_back(&run);
  }
  if (runs.empty()) {
    constexpr std::size_t kMostNamed = 8;
    throw ConfigError(fmt::format("{}: no [[run]] is named '{}'{}; there are {}",
                                  experiment.path.string(),
                                  request.run,
                                  did_you_mean(request.run, names),
                                  first_names(names, kMostNamed)));
  }
  std::vector<Job> jobs;
  const bool is_one = runs.size() * experiment.seeds.size() == 1;
  refuse_other_layout(request.output, experiment, is_one);
  for (const ExperimentRun* run : runs) {
    for (const std::uint64_t seed : experiment.seeds) {
      jobs.push_back(
          {run, seed, is_one ? request.output : run_folder(request.output, run->name, seed)});
    }
  }
  return jobs;
}

// The jobs of this call.
std::vector<Job> own_jobs(const TrainingRequest& request, const std::vector<Job>& all) {
  std::vector<Job> own;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (request.share.part && !request.share.part->is_dealt(k)) continue;
    if (request.covers && !request.covers(all[k].run->name, all[k].seed)) continue;
    own.push_back(all[k]);
  }
  return own;
}

// Refuses a merge if a training, or a checkpoint, is missing.
void require_trained(const TrainingSetup& setup, const std::vector<Job>& jobs) {
  std::vector<std::string> missing;
  for (const Job& job : jobs) {
    if (!detail::is_complete(setup, *job.run, job.seed, job.folder)) {
      missing.push_back(job.folder.string());
    }
  }
  if (missing.empty()) return;
  throw io::MissingPartsError(
      fmt::format(
          "{}: this training is not complete{}",
          missing.front(),
          missing.size() == 1 ? "" : fmt::format(", and so are {} more", missing.size() - 1)),
      {});
}

// Counts the steps of all jobs, and asks from time to time whether to continue.
class Ticker {
 public:
  Ticker(const TrainingProgress& progress, std::int64_t total)
      : progress_(&progress), total_(static_cast<double>(std::max<std::int64_t>(total, 1))) {}

  bool tick(std::int64_t num_steps) {
    done_ += num_steps;
    const Clock::time_point now = Clock::now();
    if (*progress_ && now.time_since_epoch().count() >= next_.load() && mutex_.try_lock()) {
      const std::lock_guard lock(mutex_, std::adopt_lock);
      next_ = (now + std::chrono::milliseconds(20)).time_since_epoch().count();
      if (!(*progress_)(static_cast<double>(done_.load()) / total_)) stop();
    }
    return goes_on();
  }

  void stop() { goes_on_ = false; }

  bool goes_on() const { return goes_on_; }

 private:
  using Clock = std::chrono::steady_clock;

  const TrainingProgress* progress_;
  double total_;
  std::atomic<std::int64_t> done_ = 0;
  std::atomic<Clock::rep> next_ = 0;
  std::atomic<bool> goes_on_ = true;
  std::mutex mutex_;  // for the progress callback
};

// Runs jobs in parallel; threads that are left share the batches within a job.
void train_all(std::deque<TrainingFolder>& folders, const Executor& executor, Ticker& ticker) {
  std::mutex mutex;
  std::exception_ptr error;
  executor.for_each(static_cast<Eigen::Index>(folders.size()), [&](Eigen::Index i) {
    if (!ticker.goes_on()) return;
    try {
      folders[static_cast<std::size_t>(i)].train(
          [&](std::int64_t num_steps) { return ticker.tick(num_steps); });
    } catch (...) {
      // The others stop where they can be resumed.
      ticker.stop();
      const std::lock_guard lock(mutex);
      if (error == nullptr) error = std::current_exception();
    }
  });
  if (error != nullptr) std::rethrow_exception(error);
  if (!ticker.goes_on()) throw Interrupted();
}

// Seconds for one step of each of `at_once` parallel runs, as in train_all(). The first step, which
// allocates, is not counted. If steps are short, the median of several, because the machine may
// have other work.
double seconds_of_steps(const TrainingSetup& setup,
                        const Job& job,
                        const detail::TrainingSet& fixed,
                        std::int64_t batch,
                        Eigen::Index at_once) {
  std::vector<std::unique_ptr<BatchLoss>> losses;
  std::deque<TrainingRun> runs;
  for (Eigen::Index k = 0; k < at_once; ++k) {
    losses.push_back(setup.losses(job.seed, fixed, batch));
    runs.push_back(setup.make_run(*job.run, setup.start_of(job.seed), *losses.back()));
  }
  const auto seconds_of = [&](int num_steps) {
    const double begin = wall_seconds();
    setup.training().executor().for_each(at_once, [&](Eigen::Index i) {
      for (int k = 0; k < num_steps; ++k) runs[static_cast<std::size_t>(i)].step();
    });
    return (wall_seconds() - begin) / num_steps;
  };
  constexpr double kPatienceSeconds = 0.5;
  seconds_of(1);
  const double second = seconds_of(1);
  if (second > kPatienceSeconds) return second;
  constexpr int kSteps = 3;
  constexpr std::size_t kMostRounds = 9;
  std::vector<double> rounds;
  for (double spent = 0; rounds.size() < kMostRounds && spent < kPatienceSeconds;) {
    rounds.push_back(seconds_of(kSteps));
    spent += kSteps * rounds.back();
  }
  const auto middle = rounds.begin() + std::ssize(rounds) / 2;
  std::ranges::nth_element(rounds, middle);
  return *middle;
}

// Adds what a run would find in one of its folders. @returns whether it is finished.
bool look_at_output(const fs::path& folder,
                    const io::RunConfiguration& configuration,
                    io::Overwrite overwrite,
                    TrainingPlan& plan) {
  const fs::path history = history_file(folder);
  const detail::OutputState state =
      detail::output_state(history, "training", overwrite, configuration);
  plan.is_begun = plan.is_begun || state.is_done || io::has_units(history);
  if (!state.refusal.empty() && plan.output_refusal.empty()) {
    plan.output_refusal = fmt::format("{}: {}", history.string(), state.refusal);
  }
  return state.is_done;
}

}  // namespace

fs::path run_folder(const fs::path& output, const std::string& run, std::uint64_t seed) {
  return output / run / fmt::format("{}{}", kSeedFolder, seed);
}

fs::path history_file(const fs::path& folder) { return folder / "history.h5"; }

TrainingResult run_training(const TrainingRequest& request, const TrainingProgress& progress) {
  TrainingResult result;
  {
    const Stopwatch stopwatch(result.total_seconds);
    const TrainingSetup setup(experiment_of(request), request.num_threads, request.stop);
    result.remarks = setup.remarks(request.run);
    const std::vector<Job> all = jobs_of(request, setup.experiment());
    const std::vector<Job> jobs = own_jobs(request, all);
    if (request.share.merge_only) require_trained(setup, jobs);
    // A merge does not train again what it finds.
    const io::Overwrite overwrite =
        request.share.merge_only ? io::Overwrite::kNothing : request.overwrite;
    std::deque<TrainingFolder> folders;
    for (const Job& job : jobs) {
      folders.emplace_back(setup, *job.run, job.seed, job.folder, overwrite, request.command);
    }
    const auto num_open = std::count_if(
        folders.begin(), folders.end(), [](const auto& folder) { return !folder.is_finished(); });
    Ticker ticker(progress, num_open * setup.experiment().num_steps);
    train_all(folders, setup.training().executor(), ticker);
    for (const TrainingFolder& folder : folders) {
      result.outcomes.push_back(folder.outcome());
      result.is_conclusive = result.is_conclusive && folder.outcome().status == Status::kOk &&
                             folder.outcome().has_all_looks;
    }
    if (request.share.part) {
      result.part = {.part = *request.share.part,
                     .num_units = all.size(),
                     .num_own = jobs.size(),
                     .num_found = jobs.size() - static_cast<std::size_t>(num_open)};
    }
  }
  return result;
}

TrainingPlan plan_training(const TrainingRequest& request) {
  // A step is timed with at most this many samples; more take proportionally longer.
  constexpr std::int64_t kTimed = 4096;
  const TrainingSetup setup(experiment_of(request), request.num_threads, request.stop);
  const ExperimentFile& experiment = setup.experiment();
  const GraphObjective& objective = setup.objective();
  TrainingPlan plan;
  plan.model_kind = experiment.model_kind;
  plan.num_parameters = objective.num_parameters();
  plan.num_samples = objective.num_samples();
  plan.warnings = setup.remarks(request.run);
  plan.num_steps = experiment.num_steps;
  const std::int64_t every = experiment.checkpoint_every;
  plan.num_checkpoints = plan.num_steps == 0 ? 1
                         : every == 0        ? 2
                                             : 1 + detail::ceil_div(plan.num_steps, every);
  plan.peak_memory_bytes = objective.workspace_bytes();
  const std::vector<Job> jobs = jobs_of(request, experiment);
  const auto num_runs = static_cast<double>(jobs.size());
  const auto at_once =
      std::min<Eigen::Index>(std::ssize(jobs), setup.training().executor().num_threads());
  const double rounds = num_runs / static_cast<double>(at_once);
  std::optional<detail::AnalysisCosts> row;  // of the history, for the monitors
  for (const Job& job : jobs) {
    TrainingOutcome outcome;
    outcome.run = job.run->name;
    outcome.seed = job.seed;
    outcome.folder = job.folder;
    const io::RunConfiguration configuration = setup.configuration(*job.run, job.seed);
    detail::refuse_other_training(job.folder, configuration, request.overwrite);
    outcome.was_finished = look_at_output(job.folder, configuration, request.overwrite, plan);
    plan.outcomes.push_back(std::move(outcome));
    if (plan.outcomes.size() > 1) continue;
    const detail::TrainingSet fixed = setup.training_set(job.seed);
    const auto samples_of = [&](std::int64_t size) {
      return static_cast<double>(fixed == nullptr ? size : std::min(size, fixed->rows()));
    };
    const std::int64_t timed = std::min(experiment.batch, kTimed);
    const double scale =
        experiment.batch > kTimed ? samples_of(experiment.batch) / samples_of(kTimed) : 1;
    plan.seconds = scale * seconds_of_steps(setup, job, fixed, timed, at_once) *
                   static_cast<double>(plan.num_steps) * rounds;
    if (setup.monitors().empty()) continue;
    const std::unique_ptr<GraphObjective> monitored = setup.monitored(fixed);
    const Eigen::VectorXd start = setup.start_of(job.seed);
    row = detail::measured_costs(
        {.objective = monitored.get(), .theta = &start, .analyzers = setup.monitors()});
  }
  plan.is_done_already = std::ranges::all_of(plan.outcomes, &TrainingOutcome::was_finished);
  if (!row) return plan;
  // Each monitor has one thread.
  const std::int64_t row_every = experiment.history_every > 0
                                     ? experiment.history_every
                                     : std::max<std::int64_t>(plan.num_steps, 1);
  const std::int64_t num_rows =
      1 + detail::ceil_div(plan.num_steps, row_every) + std::ssize(experiment.history_steps);
  plan.seconds += row->seconds() * static_cast<double>(num_rows) * rounds;
  plan.peak_memory_bytes += row->memory_bytes * static_cast<double>(at_once);
  return plan;
}

}  // namespace hesscope
