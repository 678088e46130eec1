// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analysis/internal/checkpoint_names.h>
#include <hesscope/analysis/internal/checkpoint_order.h>
#include <hesscope/core/error.h>
#include <hesscope/problem/training_counters.h>

namespace hesscope::detail {
namespace {

const std::string kEpoch = "epoch";

bool are_distinct(Steps steps) {
  std::sort(steps.begin(), steps.end());
  return std::adjacent_find(steps.begin(), steps.end()) == steps.end();
}

// A counter that all checkpoints of a run have.
struct Candidate {
  std::string source;  // in words
  Steps steps;
  bool is_in_file = false;
};

const char* const kNumberInName = "number in the name of the file";

std::string words_of(const std::string& counter) {
  return fmt::format("the number '{}' in the checkpoint", counter);
}

// What shows the steps of a run, the best first, and remarks on it.
class Candidates {
 public:
  Candidates(const RunEvidence& run, const std::string& step_key) : run_(run) {
    if (!step_key.empty()) {
      all_.push_back({words_of(step_key), run.counter_asked_for(step_key), true});
      return;
    }
    const std::optional<Steps> epochs = run.counter(kEpoch);
    const auto add_steps =
        [&](const std::string& source, std::optional<Steps> steps, bool in_file) {
          if (!steps) return;
          if (epochs && goes_back(*epochs, *steps)) {
            set_aside_.push_back(source);
          } else {
            all_.push_back({source, *std::move(steps), in_file});
          }
        };
    for (const std::string_view key : counter_names()) {
      if (key == kEpoch) continue;
      add_steps(words_of(std::string(key)), run.counter(std::string(key)), true);
    }
    add_steps(kStepOfConvention, run.steps_of_convention(), false);
    if (epochs) all_.push_back({words_of(kEpoch), *epochs, true});
    const bool is_told_by_files =
        epochs || std::ranges::any_of(all_, [](const Candidate& each) { return each.is_in_file; });
    if (is_told_by_files && run.names_steps())
      add_steps(kNumberInName, run.steps_in_names(), false);
    if (is_told_by_files) return;
    add_steps(kNumberInName, run.steps_in_names(), false);
    add_steps(words_of(kOptimizerStep), run.counter(kOptimizerStep), true);
  }

  /// The first candidate in which no two checkpoints are the same; nothing if there are no
  /// candidates.
  /// @throws InputError if in each candidate two checkpoints have the same step.
  const Candidate* distinct() const {
    const auto found = std::ranges::find_if(
        all_, [](const Candidate& candidate) { return are_distinct(candidate.steps); });
    if (found != all_.end()) return &*found;
    if (!all_.empty()) refuse_equal(all_.front());
    return nullptr;
  }

  const Candidate* first() const { return all_.empty() ? nullptr : &all_.front(); }

  const std::vector<std::string>& set_aside() const { return set_aside_; }

 private:
  [[noreturn]] void refuse_equal(const Candidate& candidate) const {
    const std::vector<std::size_t> order = sorted_by(candidate.steps);
    std::size_t k = 1;
    while (candidate.steps[order[k]] != candidate.steps[order[k - 1]]) ++k;
    std::error_code none;
    if (std::filesystem::equivalent(run_.name(order[k - 1]), run_.name(order[k]), none)) {
      throw InputError(fmt::format("{}: is given twice", run_.name(order[k])));
    }
    throw InputError(fmt::format(
        "{} and {}: both are of step {} ({}); leave one out, name the number in the files that "
        "tells them apart (`step_key`), or take them as given (`order` given)",
        run_.name(order[k - 1]),
        run_.name(order[k]),
        candidate.steps[order[k]],
        candidate.source));
  }

  const RunEvidence& run_;
  std::vector<Candidate> all_;
  std::vector<std::string> set_aside_;
};

// Where the names of files show another order than their contents, or other numbers of the same
// kind.
std::optional<std::string> disagreement(const RunEvidence& run, const Candidate& chosen) {
  if (!chosen.is_in_file) return std::nullopt;
  const std::optional<Steps> named = run.steps_in_names();
  if (!named) return std::nullopt;
  const std::vector<std::size_t> order = sorted_by(chosen.steps);
  for (std::size_t k = 1; k < order.size(); ++k) {
    if ((*named)[order[k]] >= (*named)[order[k - 1]]) continue;
    return fmt::format("{} is of step {}, {} of {}, by {}, though their names tell another order",
                       run.name(order[k - 1]),
                       chosen.steps[order[k - 1]],
                       run.name(order[k]),
                       chosen.steps[order[k]],
                       chosen.source);
  }
  const bool is_epoch = chosen.source == words_of(kEpoch);
  if (is_epoch ? !run.names_epochs() : !run.names_steps()) return std::nullopt;
  for (std::size_t i = 0; i < run.size(); ++i) {
    if ((*named)[i] == chosen.steps[i]) continue;
    return fmt::format("{}: its step is {}, by {}, not the number in its name",
                       run.name(i),
                       chosen.steps[i],
                       chosen.source);
  }
  return std::nullopt;
}

class Sequencer {
 public:
  Sequencer(CheckpointOrder order, const std::string& step_key)
      : order_(order), step_key_(step_key) {}

  void add(const RunEvidence& run) {
    const Candidates candidates(run, step_key_);
    const Candidate* const chosen =
        order_ == CheckpointOrder::kGiven ? candidates.first() : candidates.distinct();
    result_.runs.push_back({.first = result_.order.size(), .size = run.size()});
    CheckpointRun& made = result_.runs.back();
    if (chosen == nullptr) {
      for (std::size_t i = 0; i < run.size(); ++i) append(run, i, run.at(i).file.step);
      if (order_ == CheckpointOrder::kGiven || run.size() == 1) return;
      made.is_ordered = false;
      warn_of_no_order(run);
      return;
    }
    made.step_source = chosen->source;
    made.counts_epochs = chosen->source == words_of(kEpoch) ||
                         (chosen->source == kNumberInName && run.names_epochs());
    std::vector<std::size_t> sequence(run.size());
    std::iota(sequence.begin(), sequence.end(), std::size_t{0});
    if (order_ == CheckpointOrder::kByStep) sequence = sorted_by(chosen->steps);
    for (const std::size_t i : sequence) append(run, i, chosen->steps[i]);
    warn_of_choice(run, candidates, *chosen);
  }

  CheckpointSequence result() && { return std::move(result_); }

 private:
  void append(const RunEvidence& run, std::size_t i, std::optional<std::int64_t> step) {
    result_.order.push_back(run.members()[i]);
    result_.steps.push_back(step);
  }

  void warn_of_no_order(const RunEvidence& run) {
    result_.warnings.push_back(fmt::format(
        "{} to {}: neither the checkpoints nor their names tell the order they were written in, so "
        "they stay as given, and what follows a path is left out (undefined_no_order){}; `order` "
        "given takes the order given for that of the training, `step_key` names another number in "
        "the files",
        run.name(0),
        run.name(run.size() - 1),
        run.has_too_large_numbers() ? ". Numbers beyond 2^53 are no steps" : ""));
  }

  void warn_of_choice(const RunEvidence& run,
                      const Candidates& candidates,
                      const Candidate& chosen) {
    if (auto text = disagreement(run, chosen)) result_.warnings.push_back(*std::move(text));
    if (!step_key_.empty()) return;
    for (const std::string& source : candidates.set_aside()) {
      result_.warnings.push_back(
          fmt::format("{}: {} goes back where the epoch goes on, as if it started again in each; "
                      "their order is that of {}",
                      run.name(0),
                      source,
                      chosen.source));
    }
    const std::vector<std::string> partial = run.partial_counters();
    if (!chosen.is_in_file && !partial.empty()) {
      result_.warnings.push_back(fmt::format(
          "{}: '{}' is no step in all checkpoints of its folder; their order is that of: {}",
          run.name(0),
          fmt::join(partial, "', '"),
          chosen.source));
    }
  }

  CheckpointOrder order_;
  const std::string& step_key_;
  CheckpointSequence result_;
};

// Checkpoints by the folders of their runs.
std::vector<std::vector<std::size_t>> runs_by_folder(std::span<const CheckpointEvidence> given) {
  std::vector<std::vector<std::size_t>> runs;
  std::map<std::filesystem::path, std::size_t> known;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto [place, is_new] = known.emplace(run_folder(given[i].file.path), runs.size());
    if (is_new) runs.emplace_back();
    runs[place->second].push_back(i);
  }
  return runs;
}

std::vector<std::vector<std::size_t>> runs_as_given(std::span<const CheckpointEvidence> given) {
  std::vector<std::vector<std::size_t>> runs;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto ends_before = [&] {
      return ends_run(given[i - 1].file.path, given[i].file.path, CheckpointOrder::kGiven);
    };
    if (i == 0 || ends_before()) runs.emplace_back();
    runs.back().push_back(i);
  }
  return runs;
}

}  // namespace

std::string CheckpointSequence::step_definition() const {
  std::vector<std::string> sources;
  for (const CheckpointRun& run : runs) {
    std::string source = run.step_source;
    if (source.empty()) {
      const auto first = steps.begin() + static_cast<std::ptrdiff_t>(run.first);
      const auto has_step = [](const auto& step) { return step.has_value(); };
      if (std::none_of(first, first + static_cast<std::ptrdiff_t>(run.size), has_step)) continue;
      source = kNumberInName;
    }
    if (std::ranges::find(sources, source) == sources.end()) sources.push_back(source);
  }
  return sources.empty() ? kStepOfConvention : fmt::format("{}", fmt::join(sources, "; or "));
}

std::string CheckpointSequence::step_unit() const {
  return std::ranges::all_of(runs, &CheckpointRun::counts_epochs) ? "epoch" : "training step";
}

bool ends_run(const std::filesystem::path& before,
              const std::filesystem::path& after,
              CheckpointOrder order) {
  if (run_folder(before) == run_folder(after)) return false;
  if (order == CheckpointOrder::kByStep) return true;
  const std::optional<std::int64_t> step_before = step_in_name(before);
  const std::optional<std::int64_t> step_after = step_in_name(after);
  return step_before && step_after && *step_after <= *step_before;
}

CheckpointSequence order_checkpoints(std::span<const CheckpointEvidence> given,
                                     CheckpointOrder order,
                                     const std::string& step_key) {
  Sequencer sequencer(order, step_key);
  const bool is_given = order == CheckpointOrder::kGiven;
  for (std::vector<std::size_t>& members :
       is_given ? runs_as_given(given) : runs_by_folder(given)) {
    sequencer.add(RunEvidence(given, std::move(members)));
  }
  return std::move(sequencer).result();
}

}  // namespace hesscope::detail
