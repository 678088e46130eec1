// SPDX-License-Identifier: BSD-3-Clause
//
// From the records of an analysis to its summary and warnings.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <hesscope/analysis/analysis.h>
#include <hesscope/analysis/internal/chosen_analyzers.h>
#include <hesscope/dataset/dataset.h>

namespace hesscope::detail {

/// The variable of a spectrum that holds the band within which eigenvalues count as zero.
inline constexpr const char* kRoundingBand = "rounding_band";

/// "NAMES: WHY" for everything that is missing from an answer. Numbers that are missing for the
/// same reason are named together.
/// @param reason  why those with the status kFailed failed.
std::vector<std::string> flaws_of(const Group& answer, const std::string& reason = {});

/// A variable's first number; NaN if it is not there.
HeadlineNumber headline_number(const std::string& analyzer, const Variable& variable);

/// Adds a checkpoint to the result, from the root's record.
/// @param are_weights_finite  for the warning if loss or gradient are not finite.
void add_checkpoint(AnalysisResult& result,
                    const CheckpointFile& checkpoint,
                    const std::string& sha256,
                    bool are_weights_finite,
                    const Group& root);

/// Adds an analyzer's headline numbers at the last added checkpoint to its summary, its failures to
/// the warnings, and its numbers without proof to `unproved`.
/// @param reason  Analyzer::reason_of_failure().
void add_record(AnalysisResult& result,
                const std::string& analyzer,
                const Group& answer,
                const std::string& reason = {});

/// The same for what an analyzer says about all checkpoints together, for the numbers of the run.
void add_run_record(AnalysisResult& result, const std::string& analyzer, const Group& answer);

/// Called when everything is added: adds a warning for each set of unproved numbers that
/// checkpoints share. It names a few of them; the file names all.
void warn_of_unproved(AnalysisResult& result);

}  // namespace hesscope::detail
