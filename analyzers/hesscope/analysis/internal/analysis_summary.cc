// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analysis/internal/analysis_summary.h>
#include <hesscope/analysis/internal/checkpoint_records.h>
#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/analysis/internal/unproved_numbers.h>
#include <hesscope/core/name_list.h>

namespace hesscope::detail {
namespace {

// `of`: what the answer is about. `is_said_already`: whether the status of a checkpoint says it.
void add_flaws(const std::string& of,
               const std::string& analyzer,
               const Group& answer,
               const std::string& reason,
               bool is_said_already,
               AnalysisResult& result) {
  const std::vector<std::string> flaws = flaws_of(answer, reason);
  std::vector<std::string> unproved;
  for (const Variable& variable : answer.variables) {
    if (!variable.is_proved) unproved.push_back(fmt::format("{}/{}", analyzer, variable.name));
  }
  if (flaws.empty() && unproved.empty()) return;
  result.is_conclusive = false;
  if (is_said_already) return;
  for (const std::string& flaw : flaws) {
    result.warnings.push_back(fmt::format("{}: {}/{}", of, analyzer, flaw));
  }
  if (unproved.empty()) return;
  const auto is_of_this = [&](const UnprovedAnswers& last) {  // the same file may be given twice
    return last.of == of && std::ranges::find(last.names, unproved.front()) == last.names.end();
  };
  if (result.unproved.empty() || !is_of_this(result.unproved.back())) {
    result.unproved.push_back({.of = of, .names = {}});
  }
  std::ranges::move(unproved, std::back_inserter(result.unproved.back().names));
}

}  // namespace

std::vector<std::string> flaws_of(const Group& answer, const std::string& reason) {
  std::vector<std::pair<Status, std::vector<std::string>>> missing;
  for (const Variable& variable : answer.variables) {
    if (variable.type == VariableType::kInt8) continue;  // has no status; its numbers have one
    const Status status = variable.worst_status();
    // If an analyzer itself says that it did not compute something, it was not asked to.
    const bool is_left_out = status == Status::kNotComputed && variable.is_said();
    if (is_conclusive(status) || is_left_out) continue;
    const auto same =
        std::ranges::find(missing, status, &std::pair<Status, std::vector<std::string>>::first);
    if (same == missing.end()) {
      missing.push_back({status, {variable.name}});
    } else {
      same->second.push_back(variable.name);
    }
  }
  std::vector<std::string> flaws;
  for (const auto& [status, names] : missing) {
    std::string flaw = fmt::format("{}: {}", fmt::join(names, ", "), to_string(status));
    if (status == Status::kFailed && !reason.empty()) flaw += ": " + reason;
    flaws.push_back(std::move(flaw));
  }
  return flaws;
}

HeadlineNumber headline_number(const std::string& analyzer, const Variable& variable) {
  HeadlineNumber number{analyzer, variable.name, variable.number(), variable.status()};
  number.is_count = variable.type == VariableType::kInt64 && !std::isnan(number.value);
  if (variable.type == VariableType::kInt8 && variable.is_said()) {
    number.word = variable.flag_meanings.at(static_cast<std::size_t>(number.value));
  }
  return number;
}

std::vector<HeadlineNumber> headline_of(const std::string& analyzer, const Group& answer) {
  std::vector<const Variable*> shown;
  for (const Variable& variable : answer.variables) {
    if (variable.headline > 0) shown.push_back(&variable);
  }
  std::ranges::stable_sort(shown, {}, &Variable::headline);
  std::vector<HeadlineNumber> numbers;
  // The variables of a spectrum without a prefix: lambda_min, lambda_median and lambda_max.
  const Variable* const band = answer.find(kRoundingBand);
  for (const Variable* variable : shown) {
    HeadlineNumber number = headline_number(analyzer, *variable);
    number.is_zero = band != nullptr && number.name.starts_with("lambda_") &&
                     std::abs(number.value) <= band->number();
    numbers.push_back(std::move(number));
  }
  return numbers;
}

void add_checkpoint(AnalysisResult& result,
                    const CheckpointFile& checkpoint,
                    const std::string& sha256,
                    bool are_weights_finite,
                    const Group& root) {
  CheckpointSummary summary = summary_of(checkpoint, sha256, root);
  if (summary.status != Status::kOk) {
    result.is_conclusive = false;
    result.warnings.push_back(
        fmt::format("{}: the {} not finite; recorded as non_finite",
                    summary.checkpoint.path.string(),
                    are_weights_finite ? "loss or gradient is" : "weights are"));
  }
  result.checkpoints.push_back(std::move(summary));
}

void add_record(AnalysisResult& result,
                const std::string& analyzer,
                const Group& answer,
                const std::string& reason) {
  CheckpointSummary& summary = result.checkpoints.back();
  const std::vector<HeadlineNumber> numbers = headline_of(analyzer, answer);
  summary.numbers.insert(summary.numbers.end(), numbers.begin(), numbers.end());
  add_flaws(summary.checkpoint.path.string(),
            analyzer,
            answer,
            reason,
            summary.status != Status::kOk,
            result);
}

void add_run_record(AnalysisResult& result, const std::string& analyzer, const Group& answer) {
  const std::vector<HeadlineNumber> numbers = headline_of(analyzer, answer);
  result.run_numbers.insert(result.run_numbers.end(), numbers.begin(), numbers.end());
  const bool is_said_already = std::ranges::any_of(
      result.checkpoints,
      [](const CheckpointSummary& summary) { return summary.status != Status::kOk; });
  add_flaws(kAllCheckpoints, analyzer, answer, {}, is_said_already, result);
}

void warn_of_unproved(AnalysisResult& result) {
  constexpr std::size_t kMaxNamed = 4;
  std::vector<std::pair<const UnprovedAnswers*, std::size_t>> sets;  // the first, and how many more
  for (const UnprovedAnswers& unproved : result.unproved) {
    const auto same = std::ranges::find_if(
        sets, [&](const auto& set) { return set.first->names == unproved.names; });
    if (same == sets.end()) {
      sets.emplace_back(&unproved, 0);
    } else {
      ++same->second;
    }
  }
  for (const auto& [set, num_more] : sets) {
    result.warnings.push_back(fmt::format("{}{}: {}: {}",
                                          set->of,
                                          and_more(num_more),
                                          first_names(set->names, kMaxNamed),
                                          kUnproved));
  }
}

}  // namespace hesscope::detail
