// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <hesscope/analysis/internal/analysis_summary.h>
#include <hesscope/analysis/internal/result_root.h>
#include <hesscope/core/constants.h>

namespace hesscope::detail {

// A quantity that the analyzer did not set was not computed.
Status status_of(const Record& record, const std::string& name) {
  const auto found = record.entries().find(name);
  if (found == record.entries().end()) return Status::kNotComputed;
  const auto* real = std::get_if<Record::Real>(&found->second);
  return real == nullptr ? Status::kOk : real->status;
}

HeadlineNumber headline_number(const std::string& analyzer,
                               const std::string& name,
                               const Record& record,
                               std::span<const Quantity> quantities) {
  HeadlineNumber number{analyzer, name, kNaN, status_of(record, name)};
  const auto found = record.entries().find(name);
  if (found == record.entries().end()) return number;
  if (const auto* real = std::get_if<Record::Real>(&found->second)) {
    if (!real->values.empty()) number.value = real->values.front();
  } else if (const auto* count = std::get_if<std::int64_t>(&found->second)) {
    number.value = static_cast<double>(*count);
    number.is_count = true;
  } else if (const auto* flag = std::get_if<std::int8_t>(&found->second)) {
    number.value = *flag;
    const auto quantity = std::ranges::find(quantities, name, &Quantity::name);
    if (quantity != quantities.end()) {
      number.word = quantity->flags.at(static_cast<std::size_t>(*flag));
    }
  }
  return number;
}

void add_checkpoint(AnalysisResult& result,
                    const CheckpointFile& checkpoint,
                    const std::string& sha256,
                    bool are_weights_finite,
                    const Record& root) {
  CheckpointSummary summary{.checkpoint = checkpoint,
                            .sha256 = sha256,
                            .loss = headline_number("", "loss", root).value,
                            .gradient_norm = headline_number("", "gradient_norm", root).value,
                            .status = root_status(root),
                            .numbers = {}};
  if (summary.status != Status::kOk) {
    result.is_conclusive = false;
    result.warnings.push_back(
        fmt::format("{}: the {} not finite; recorded as non_finite",
                    summary.checkpoint.path.string(),
                    are_weights_finite ? "loss or gradient is" : "weights are"));
  }
  result.checkpoints.push_back(std::move(summary));
}

void add_record(AnalysisResult& result, const ChosenAnalyzer& chosen, const Record& record) {
  CheckpointSummary& summary = result.checkpoints.back();
  const std::vector<Quantity> quantities = chosen.analyzer->quantities();
  for (const std::string& name : chosen.analyzer->headline()) {
    summary.numbers.push_back(headline_number(chosen.name, name, record, quantities));
  }
  const auto warn = [&](const std::string& name, std::string_view what) {
    result.is_conclusive = false;
    if (summary.status != Status::kOk) return;  // said already
    result.warnings.push_back(
        fmt::format("{}: {}/{}: {}", summary.checkpoint.path.string(), chosen.name, name, what));
  };
  for (const Quantity& quantity : quantities) {
    if (quantity.type == Quantity::Type::kFlag) continue;  // has no status; its numbers have one
    const Status status = status_of(record, quantity.name);
    // An analyzer that says itself that it did not compute something was not asked to.
    const bool is_left_out =
        status == Status::kNotComputed && record.entries().contains(quantity.name);
    if (!is_conclusive(status) && !is_left_out) warn(quantity.name, to_string(status));
  }
  for (const std::string& name : record.unproved()) {
    warn(name, "converged without a count, so another eigenvalue may have been missed");
  }
}

void add_run_record(AnalysisResult& result, const ChosenAnalyzer& chosen, const Record& record) {
  for (const std::string& name : chosen.analyzer->run_headline()) {
    result.run_numbers.push_back(headline_number(chosen.name, name, record));
  }
}

}  // namespace hesscope::detail
