// SPDX-License-Identifier: BSD-3-Clause
//
// Writes numbers to positions given by the data, and combines several at one position.
#pragma once

#include <string>

#include <hesscope/autodiff/graph.h>
#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// Combines each row to one number, giving a column: the sum, product, maximum or minimum, for the
/// reduction "add", "mul", "max" or "min". Refuses others.
Var joined_rows(const OperatorCall& call, Var rows, const std::string& reduction);

/// Lines of entries, one per row, in which entry places(l, e) of line l becomes updates(l, e), or
/// is combined with it by the reduction. Negative places count from the end; a line with a place
/// that does not exist becomes NaN. Each entry examines all updates of its line: lines x size x
/// updates numbers. Without a reduction, an entry with several updates becomes NaN, unless all
/// updates are one and the same number; before opset 16, where PyTorch means sums, this is refused.
/// @param places, updates  lines x updates; places are whole numbers that no parameter changes.
Var scattered_lines(
    const OperatorCall& call, Var lines, Var places, Var updates, const std::string& reduction);

}  // namespace hesscope::onnx
