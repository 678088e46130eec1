// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <utility>
#include <vector>

#include <hesscope/analysis/internal/analysis_reading.h>
#include <hesscope/analysis/internal/analysis_summary.h>
#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/dataset/result_reader.h>

namespace hesscope::detail {
namespace {

// The variables that a summary is made from.
std::vector<Variable> shown_of(Group declared) {
  std::erase_if(declared.variables, [](const Variable& each) {
    return each.headline == 0 && each.name != kRoundingBand;
  });
  return std::move(declared.variables);
}

}  // namespace

void read_analysis(const AnalysisRequest& request,
                   const AnalysisInputs& inputs,
                   AnalysisResult& result) {
  const io::ResultReader file(request.output);
  const std::size_t count = inputs.checkpoints.size();
  const std::vector<Group> roots =
      read_records(file, "", real_numbers({"loss", "gradient_norm"}), count);
  std::vector<std::vector<Group>> records;  // of each analyzer
  for (const ChosenAnalyzer& chosen : inputs.analyzers) {
    const std::vector<Variable> shown = shown_of(chosen.analyzer->declared());
    records.push_back(read_records(file, chosen.name, shown, count));
  }
  for (std::size_t i = 0; i < count; ++i) {
    add_checkpoint(
        result, inputs.checkpoints[i], inputs.digests[i], inputs.points[i].allFinite(), roots[i]);
    for (std::size_t k = 0; k < inputs.analyzers.size(); ++k) {
      add_record(result, inputs.analyzers[k].name, records[k][i]);
    }
  }
  for (const ChosenAnalyzer& chosen : inputs.analyzers) {
    const std::vector<Variable> shown = shown_of(chosen.analyzer->declared_of_run());
    add_run_record(result, chosen.name, read_record(file, chosen.name, shown));
  }
  // These come from the file, because only part of it was read above.
  read_conclusion(file, result);
}

}  // namespace hesscope::detail
