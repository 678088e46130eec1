// SPDX-License-Identifier: BSD-3-Clause
//
// How all resumable runs on checkpoints proceed, whatever they compute.
#pragma once

#include <functional>
#include <string>

#include <hesscope/analysis/checkpoint_run.h>
#include <hesscope/analysis/internal/checkpoint_inputs.h>
#include <hesscope/analysis/internal/unit_run.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

/// What a run does itself.
struct RunSteps {
  std::function<void()> probe;             ///< as for UnitRun
  std::function<void()> read;              ///< instead of all others, if the result is there
  std::function<void(UnitRun&)> compute;   ///< keeps all units, or requires them for a merge
  std::function<void(UnitRun&)> assemble;  ///< makes the result of them; not called for a part
};

/// Takes the output, has the ranks of the team join in while units are computed, and removes the
/// units when the result is in place.
/// @param subject  of the result, as in Provenance.
/// @param result   gets the warnings of inputs and units.
/// @throws as UnitRun, TeamSession and the steps do.
void run_steps(const CheckpointRunRequest& request,
               const CheckpointInputs& inputs,
               const std::string& subject,
               const io::RunConfiguration& configuration,
               const RunSteps& steps,
               CheckpointRunResult& result);

/// Sets in a plan what is known of the model, and what the run would find at its output.
void foresee_run(const CheckpointRunRequest& request,
                 const CheckpointInputs& inputs,
                 const std::string& subject,
                 const io::RunConfiguration& configuration,
                 CheckpointRunPlan& plan);

}  // namespace hesscope::detail
