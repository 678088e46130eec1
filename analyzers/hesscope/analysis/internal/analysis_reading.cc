// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/analysis/internal/analysis_reading.h>
#include <hesscope/analysis/internal/analysis_summary.h>
#include <hesscope/analysis/internal/result_root.h>
#include <hesscope/dataset/result_reader.h>

namespace hesscope::detail {
namespace {

std::vector<Quantity> quantities_named(std::vector<Quantity> quantities,
                                       const std::vector<std::string>& names) {
  std::erase_if(quantities, [&](const Quantity& quantity) {
    return std::find(names.begin(), names.end(), quantity.name) == names.end();
  });
  return quantities;
}

}  // namespace

AnalysisResult read_analysis(const AnalysisRequest& request, const AnalysisInputs& inputs) {
  const io::ResultReader file(request.output);
  const std::size_t count = inputs.checkpoints.size();
  const std::vector<Record> roots =
      read_records(file, "", real_numbers({"loss", "gradient_norm"}), count);
  std::vector<std::vector<Record>> records;  // of each analyzer
  for (const ChosenAnalyzer& chosen : inputs.analyzers) {
    const auto shown = quantities_named(chosen.analyzer->quantities(), chosen.analyzer->headline());
    records.push_back(read_records(file, chosen.name, shown, count));
  }
  AnalysisResult result;
  for (std::size_t i = 0; i < count; ++i) {
    add_checkpoint(
        result, inputs.checkpoints[i], inputs.digests[i], inputs.points[i].allFinite(), roots[i]);
    for (std::size_t k = 0; k < inputs.analyzers.size(); ++k) {
      add_record(result, inputs.analyzers[k], records[k][i]);
    }
  }
  for (const ChosenAnalyzer& chosen : inputs.analyzers) {
    const auto shown =
        quantities_named(chosen.analyzer->run_quantities(), chosen.analyzer->run_headline());
    add_run_record(result, chosen, read_record(file, chosen.name, shown));
  }
  // Not what follows from the part that was read.
  result.warnings = warnings_of_result(file);
  result.is_conclusive = is_conclusive_result(file);
  result.is_done_already = true;
  return result;
}

}  // namespace hesscope::detail
