// SPDX-License-Identifier: BSD-3-Clause
//
// Indices of operators that select entries: either known during the import, so that a table
// determines all moves, or known only with the data, so that rows are looked up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// Input i, if it is known during the import: integers, or constants truncated to integers. Refuses
/// values that depend on the number of samples or change with the parameters.
std::optional<std::vector<std::int64_t>> indices_at_hand(const OperatorCall& call, std::size_t i);

/// An index in [-size, size), counted from the front. Refuses others.
std::int64_t counted_from_front(const OperatorCall& call, std::int64_t index, std::int64_t size);

/// Indices from data, as a column; negative ones are converted to count from the front.
Var index_column(const Value& indices, std::int64_t size);

/// 1 where a whole number of the column is not in [0, size), 0 elsewhere.
Var is_outside(Var column, std::int64_t size);

/// The entries of a value at places given by data: place k, counted row by row, is given as a whole
/// number in a column; NaN where it is negative.
Var entries_at(const Value& value, Var places);

/// The places, replaced where the flag is 1 such that entries_at() gives NaN there.
Var without(Var places, Var flags);

/// Refuses axes if two of them have the batch: each sample would meet all others.
void require_one_batch(const OperatorCall& call, const Axes& axes, const Value& a, const Value& b);

/// Refuses unless the two tensors have the batch on the same axes in [begin, end), with the same
/// layout.
void require_same_batch(
    const OperatorCall& call, const Value& a, const Value& b, int begin, int end);

/// The number of entries along the axes [begin, end) together, for one sample.
std::int64_t extent_of(const Axes& axes, int begin, int end);

}  // namespace hesscope::onnx
