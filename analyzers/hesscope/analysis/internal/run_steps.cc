// SPDX-License-Identifier: BSD-3-Clause
#include <optional>
#include <utility>
#include <vector>

#include <hesscope/analysis/internal/run_steps.h>
#include <hesscope/analysis/internal/team_session.h>

namespace hesscope::detail {

void run_steps(const CheckpointRunRequest& request,
               const CheckpointInputs& inputs,
               const std::string& subject,
               const io::RunConfiguration& configuration,
               const RunSteps& steps,
               CheckpointRunResult& result) {
  UnitRun run(
      request.output, subject, request.overwrite, request.share, configuration, steps.probe);
  if (run.is_done()) {
    steps.read();
    return;
  }
  result.warnings = inputs.warnings;
  {
    std::optional<TeamSession> session;
    if (!request.share.merge_only) session.emplace(request.team.get(), configuration);
    steps.compute(run);
  }
  if (!request.share.part) steps.assemble(run);
  const std::vector<std::string>& remarks = run.folder().remarks();
  result.warnings.insert(result.warnings.end(), remarks.begin(), remarks.end());
  if (!request.share.part) run.finish();
}

void foresee_run(const CheckpointRunRequest& request,
                 const CheckpointInputs& inputs,
                 const std::string& subject,
                 const io::RunConfiguration& configuration,
                 CheckpointRunPlan& plan) {
  plan.model_kind = inputs.problem.model().kind;
  plan.num_parameters = inputs.problem.objective().num_parameters();
  plan.num_samples = inputs.problem.objective().num_samples();
  plan.warnings = inputs.warnings;
  OutputState output = output_state(request.output, subject, request.overwrite, configuration);
  plan.is_done_already = output.is_done;
  plan.output_refusal = std::move(output.refusal);
}

}  // namespace hesscope::detail
