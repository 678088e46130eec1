// SPDX-License-Identifier: BSD-3-Clause
//
// From the records of an analysis to what is said of it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <hesscope/analysis/analysis.h>
#include <hesscope/analysis/internal/chosen_analyzers.h>
#include <hesscope/dataset/dataset.h>

namespace hesscope::detail {

/// The variable of a spectrum within which its eigenvalues are zero.
inline constexpr const char* kRoundingBand = "rounding_band";

/// "NAMES: WHY" of what is missing of an answer. Numbers that are missing for the same reason are
/// said together.
/// @param reason  of what failed.
std::vector<std::string> flaws_of(const Group& answer, const std::string& reason = {});

/// A variable's first number; NaN if it is not there.
HeadlineNumber headline_number(const std::string& analyzer, const Variable& variable);

/// Adds a checkpoint to the result, from the root's record.
/// @param are_weights_finite  for the warning where loss or gradient are not.
void add_checkpoint(AnalysisResult& result,
                    const CheckpointFile& checkpoint,
                    const std::string& sha256,
                    bool are_weights_finite,
                    const Group& root);

/// Takes an analyzer's headline numbers at the checkpoint added last into its summary, and its
/// failures into the warnings; what is not proved into `unproved`.
/// @param reason  Analyzer::reason_of_failure().
void add_record(AnalysisResult& result,
                const std::string& analyzer,
                const Group& answer,
                const std::string& reason = {});

/// The same with what an analyzer says of all checkpoints together, for the numbers of the run.
void add_run_record(AnalysisResult& result, const std::string& analyzer, const Group& answer);

/// When all is added: a warning for each of the sets of numbers that are not proved, which
/// checkpoints share. It names a few; the file has them all.
void warn_of_unproved(AnalysisResult& result);

}  // namespace hesscope::detail
