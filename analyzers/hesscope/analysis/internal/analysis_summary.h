// SPDX-License-Identifier: BSD-3-Clause
//
// From the records of an analysis to what is said of it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <hesscope/analysis/analysis.h>
#include <hesscope/analysis/internal/chosen_analyzers.h>
#include <hesscope/analyzers/record.h>

namespace hesscope::detail {

/// Why a quantity of a record is, or is not, there.
Status status_of(const Record& record, const std::string& name);

/// Its first number; NaN if it is not there. A flag's word is that of `quantities`.
HeadlineNumber headline_number(const std::string& analyzer,
                               const std::string& name,
                               const Record& record,
                               std::span<const Quantity> quantities = {});

/// Adds a checkpoint to the result, from the root's record.
/// @param are_weights_finite  for the warning where loss or gradient are not.
void add_checkpoint(AnalysisResult& result,
                    const CheckpointFile& checkpoint,
                    const std::string& sha256,
                    bool are_weights_finite,
                    const Record& root);

/// Takes an analyzer's headline numbers at the checkpoint added last into its summary, and its
/// failures into the warnings.
void add_record(AnalysisResult& result, const ChosenAnalyzer& chosen, const Record& record);

/// Takes what an analyzer says of the run into the result.
void add_run_record(AnalysisResult& result, const ChosenAnalyzer& chosen, const Record& record);

}  // namespace hesscope::detail
