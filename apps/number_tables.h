// SPDX-License-Identifier: BSD-3-Clause
//
// Existing and missing numbers, for people: the same words in every table.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <hesscope/analysis/checkpoint_run.h>

namespace hesscope::cli {

/// The number, or why it is missing.
std::string cell_text(double value, Status status);
std::string cell_text(const HeadlineNumber& number);

/// A loss has no status of its own, only that of its checkpoint, where possibly only the gradient
/// is at fault.
Status loss_status(const CheckpointSummary& summary);

/// A header, and a row for each checkpoint: its name (distinct_names()), loss and gradient norm.
std::vector<std::vector<std::string>> loss_rows(std::span<const CheckpointSummary> checkpoints);

/// A line for each kind of cell without a number that needs an explanation; for numbers that could
/// be computed, what that takes.
/// @param takes  what numbers without a known analyzer take; empty if nothing is to be said.
std::string legend_text(std::span<const HeadlineNumber> numbers, const std::string& takes = {});

}  // namespace hesscope::cli
