// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers put at places that the data tell, and what becomes of several in one place.
#pragma once

#include <string>

#include <hesscope/autodiff/graph.h>
#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// Each row joined to one number, a column: their sum, product, largest or least by the reduction
/// "add", "mul", "max" or "min". Refuses others.
Var joined_rows(const OperatorCall& call, Var rows, const std::string& reduction);

/// Lines of entries, a row each, of which entry places(l, e) of line l becomes updates(l, e), or is
/// joined with it by the reduction. Places count from the end where they are negative; a line with
/// one that is not there becomes NaN. Each entry looks at all updates of its line: lines x size x
/// updates numbers. Without a reduction an entry that several updates meet at is NaN, unless they
/// are one number everywhere; before opset 16, where PyTorch means sums, they are refused.
/// @param places, updates  lines x updates; places are whole numbers that no parameter changes.
Var scattered_lines(
    const OperatorCall& call, Var lines, Var places, Var updates, const std::string& reduction);

}  // namespace hesscope::onnx
