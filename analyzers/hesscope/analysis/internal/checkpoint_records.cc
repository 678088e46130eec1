// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <fmt/format.h>

#include <hesscope/analysis/internal/checkpoint_records.h>
#include <hesscope/analyzers/point_analysis.h>

namespace hesscope::detail {

Provenance provenance_of(const CheckpointInputs& inputs,
                         const std::string& subject,
                         const std::string& command,
                         std::uint64_t seed) {
  return {.subject = subject,
          .command = command,
          .seed = seed,
          .num_checkpoints = inputs.checkpoints.size(),
          .steps = steps_of(inputs.checkpoints),
          .tensor_map = inputs.map_text(),
          .definitions = {.step = inputs.step_definition, .step_unit = inputs.step_unit},
          .quantities = loss_check_quantities(inputs.expected_losses)};
}

void name_checkpoints(const CheckpointInputs& inputs, CheckpointResult& result) {
  for (std::size_t i = 0; i < inputs.checkpoints.size(); ++i) {
    result.name_checkpoint(i, inputs.checkpoints[i], inputs.digests[i]);
  }
}

std::string unit_name(std::size_t number, const std::string& analyzer) {
  return fmt::format("{:06}-{}", number, analyzer);
}

std::vector<DealtUnit> root_units(const CheckpointInputs& inputs) {
  std::vector<DealtUnit> units;
  for (std::size_t i = 0; i < inputs.checkpoints.size(); ++i) {
    units.push_back({.name = unit_name(i, kRootUnit),
                     .what = inputs.checkpoints[i].path.string(),
                     .make = [&inputs, i](const ProgressCallback& /*progress*/) {
                       const CheckpointObjective own = inputs.objective_at(i);
                       PointAnalysis point(*own.objective, inputs.points[i]);
                       return root_record(point);
                     }});
  }
  return units;
}

KeptRoots kept_roots(UnitRun& run, const CheckpointInputs& inputs, CheckpointRunResult& result) {
  KeptRoots kept;
  for (std::size_t i = 0; i < inputs.checkpoints.size(); ++i) {
    kept.records.push_back(run.read(unit_name(i, kRootUnit)));
  }
  LossCheck check = check_losses(inputs.expected_losses, inputs.checkpoints, kept.records);
  kept.checks = std::move(check.records);
  result.warnings.insert(result.warnings.end(), check.warnings.begin(), check.warnings.end());
  result.is_conclusive = check.is_as_said;
  return kept;
}

std::vector<Group> write_roots(UnitRun& run,
                               const CheckpointInputs& inputs,
                               CheckpointResult& file,
                               CheckpointRunResult& result) {
  KeptRoots kept = kept_roots(run, inputs, result);
  for (std::size_t i = 0; i < kept.records.size(); ++i) {
    file.write(i, "", kept.records[i]);
    file.write(i, "", kept.checks[i]);
  }
  return std::move(kept.records);
}

CheckpointSummary summary_of(const CheckpointFile& checkpoint,
                             const std::string& sha256,
                             const Group& root) {
  return {.checkpoint = checkpoint,
          .sha256 = sha256,
          .loss = root["loss"].number(),
          .gradient_norm = root["gradient_norm"].number(),
          .status = root_status(root),
          .numbers = {}};
}

std::vector<CheckpointSummary> summaries_of(const CheckpointInputs& inputs,
                                            const std::vector<Group>& roots) {
  std::vector<CheckpointSummary> summaries;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    summaries.push_back(summary_of(inputs.checkpoints[i], inputs.digests[i], roots[i]));
  }
  return summaries;
}

Eigen::Map<const Eigen::VectorXd> vector_in(const Group& record, const std::string& name) {
  const std::vector<double>& values = record[name].reals();
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

}  // namespace hesscope::detail
