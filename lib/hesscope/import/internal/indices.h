// SPDX-License-Identifier: BSD-3-Clause
//
// Indices of operators that pick entries: at hand while the graph is imported, where a table says
// what goes where, or known with the data only, where rows are looked up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// Input i if it is known while importing: integers, or constants cut to integers. Refuses what
/// depends on the number of samples, and what changes with the parameters.
std::optional<std::vector<std::int64_t>> indices_at_hand(const OperatorCall& call, std::size_t i);

/// An index of [-size, size) counted from the front. Refuses others.
std::int64_t counted_from_front(const OperatorCall& call, std::int64_t index, std::int64_t size);

/// Indices from data as a column, negative ones counted from the front.
Var index_column(const Value& indices, std::int64_t size);

/// 1 where a whole number of the column is not among [0, size), 0 elsewhere.
Var is_outside(Var column, std::int64_t size);

/// Entries of a value at places that data tell: place k, row by row, as a whole number of a column;
/// NaN where that is negative.
Var entries_at(const Value& value, Var places);

/// Places that entries_at() makes NaN of where the flag is 1.
Var without(Var places, Var flags);

/// Refuses axes of which two have the batch: each sample would meet all others.
void require_one_batch(const OperatorCall& call, const Axes& axes, const Value& a, const Value& b);

/// Refuses unless two tensors have the batch at the same axes among [begin, end), and with the same
/// layout.
void require_same_batch(
    const OperatorCall& call, const Value& a, const Value& b, int begin, int end);

/// How many entries the axes of [begin, end) have together, for one sample.
std::int64_t extent_of(const Axes& axes, int begin, int end);

}  // namespace hesscope::onnx
