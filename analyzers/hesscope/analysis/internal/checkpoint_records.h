// SPDX-License-Identifier: BSD-3-Clause
//
// What all runs on checkpoints keep, write and report about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/analysis/checkpoint_run.h>
#include <hesscope/analysis/internal/checkpoint_inputs.h>
#include <hesscope/analysis/internal/checkpoint_result.h>
#include <hesscope/analysis/internal/loss_check.h>
#include <hesscope/analysis/internal/unit_run.h>
#include <hesscope/dataset/dataset.h>

namespace hesscope::detail {

/// Where the result of a run on these inputs comes from. @param subject  as Provenance has it.
Provenance provenance_of(const CheckpointInputs& inputs,
                         const std::string& subject,
                         const std::string& command,
                         std::uint64_t seed);

/// Names all of the inputs' checkpoints in their result.
void name_checkpoints(const CheckpointInputs& inputs, CheckpointResult& result);

/// The name that takes the place of an analyzer in the units that hold a root_record().
inline constexpr const char* kRootUnit = "root";

/// The name of the unit that holds what an analyzer found at a checkpoint, or at a step.
std::string unit_name(std::size_t number, const std::string& analyzer);

/// Those units for all checkpoints of the inputs, which must outlive them. @cost a gradient each.
std::vector<DealtUnit> root_units(const CheckpointInputs& inputs);

struct KeptRoots {
  std::vector<Group> records;  ///< one for each checkpoint
  std::vector<Group> checks;   ///< of their losses, against those that were expected
};

/// Those units' records; the check's outcome becomes part of the result's.
/// @throws OutputError if one cannot be read back.
KeptRoots kept_roots(UnitRun& run, const CheckpointInputs& inputs, CheckpointRunResult& result);

/// The same, written to the result's file. @return  the records.
std::vector<Group> write_roots(UnitRun& run,
                               const CheckpointInputs& inputs,
                               CheckpointResult& file,
                               CheckpointRunResult& result);

/// The content of a root_record(), without further numbers.
CheckpointSummary summary_of(const CheckpointFile& checkpoint,
                             const std::string& sha256,
                             const Group& root);

/// The same for all checkpoints of the inputs, from one record each.
std::vector<CheckpointSummary> summaries_of(const CheckpointInputs& inputs,
                                            const std::vector<Group>& roots);

/// A variable of real numbers in a record; valid as long as the record.
Eigen::Map<const Eigen::VectorXd> vector_in(const Group& record, const std::string& name);

}  // namespace hesscope::detail
