// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers that are or are not there, for people: the same words in every table.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <hesscope/analysis/analysis.h>

namespace hesscope::cli {

/// The number, or why it is not there.
std::string cell_text(double value, Status status);
std::string cell_text(const HeadlineNumber& number);

/// A loss has none but that of its checkpoint, whose gradient alone may be at fault.
Status loss_status(const CheckpointSummary& summary);

/// A row for each checkpoint, below a header: its name (distinct_names()), loss and gradient norm.
std::vector<std::vector<std::string>> loss_rows(std::span<const CheckpointSummary> checkpoints);

/// A line for each kind of cell without a number that needs one; of what can be had, what it takes.
/// @param takes  that of numbers which no analyzer is known for; empty where nothing is to be said.
std::string legend_text(std::span<const HeadlineNumber> numbers, const std::string& takes = {});

}  // namespace hesscope::cli
