// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analysis/internal/analysis_summary.h>
#include <hesscope/analysis/internal/checkpoint_records.h>
#include <hesscope/analysis/internal/checkpoint_result.h>
#include <hesscope/core/constants.h>

namespace hesscope::detail {

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
  // Of a spectrum without a prefix: lambda_min, lambda_median and lambda_max.
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

void add_record(AnalysisResult& result, const std::string& analyzer, const Group& answer) {
  CheckpointSummary& summary = result.checkpoints.back();
  const std::vector<HeadlineNumber> numbers = headline_of(analyzer, answer);
  summary.numbers.insert(summary.numbers.end(), numbers.begin(), numbers.end());
  const auto warn = [&](const std::string& name, std::string_view what) {
    result.is_conclusive = false;
    if (summary.status != Status::kOk) return;  // said already
    result.warnings.push_back(
        fmt::format("{}: {}/{}: {}", summary.checkpoint.path.string(), analyzer, name, what));
  };
  // Numbers that are missing for the same reason are said together.
  std::vector<std::pair<Status, std::vector<std::string>>> missing;
  for (const Variable& variable : answer.variables) {
    if (variable.type == VariableType::kInt8) continue;  // has no status; its numbers have one
    // An analyzer that says itself that it did not compute something was not asked to.
    const bool is_left_out = variable.status() == Status::kNotComputed && variable.is_said();
    if (is_conclusive(variable.status()) || is_left_out) continue;
    const auto same = std::ranges::find(
        missing, variable.status(), &std::pair<Status, std::vector<std::string>>::first);
    if (same == missing.end()) {
      missing.push_back({variable.status(), {variable.name}});
    } else {
      same->second.push_back(variable.name);
    }
  }
  for (const auto& [status, names] : missing) {
    warn(fmt::format("{}", fmt::join(names, ", ")), to_string(status));
  }
  for (const Variable& variable : answer.variables) {
    if (!variable.is_proved) {
      warn(variable.name, "converged without a count, so another eigenvalue may have been missed");
    }
  }
}

void add_run_record(AnalysisResult& result, const std::string& analyzer, const Group& answer) {
  const std::vector<HeadlineNumber> numbers = headline_of(analyzer, answer);
  result.run_numbers.insert(result.run_numbers.end(), numbers.begin(), numbers.end());
}

}  // namespace hesscope::detail
