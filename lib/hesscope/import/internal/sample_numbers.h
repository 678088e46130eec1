// SPDX-License-Identifier: BSD-3-Clause
//
// The numbers of samples, 0 to N - 1, by which exporters write x[arange(N), i]: the batch in front
// of an axis of T entries makes one axis of N T, of which entry n T + i is the i-th of sample n.
//
//   Range(0, N, 1) -> Mul(T) -> Add(i) -> Gather(x as (N T, ...))
//
// Graphs are of one sample, whose number is not known: such integers have as their value the part
// that does not grow with n, and Value::sample_steps beside it. What picks by them takes the part
// of n away again, and refuses what would be another sample's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/import/internal/integer_arithmetic.h>
#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// Refuses inputs that count samples, but of operators that carry them on or pick by them.
void require_no_sample_numbers(const OperatorCall& call);

/// The result of a sum, a difference or a product of two integers, with the steps of both. Refuses
/// products of which each counts samples, or one is not known.
Value with_sample_steps(const OperatorCall& call,
                        Value result,
                        const Value& a,
                        const Value& b,
                        IntegerFunction function);

/// The steps of a Movement's result, by its table.
std::vector<std::int64_t> moved_steps(std::span<const Value> inputs,
                                      std::span<const std::int32_t> table);

/// Whether indices, or every `depth`-th of them from entry `first` on, pick along the axis by the
/// number of the sample, so that an index without it is one of the sample's own entries. Refuses
/// what meets other samples.
bool picks_own_samples(const OperatorCall& call,
                       const Value& data,
                       int axis,
                       const Value& indices,
                       std::int64_t first = 0,
                       std::int64_t depth = 1);

}  // namespace hesscope::onnx
