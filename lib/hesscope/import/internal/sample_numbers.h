// SPDX-License-Identifier: BSD-3-Clause
//
// The numbers of samples, 0 to N - 1, by which exporters write x[arange(N), i]: the batch in front
// of an axis of T entries makes one axis of N T, of which entry n T + i is the i-th of sample n.
//
//   Range(0, N, 1) -> Mul(T) -> Add(i) -> Gather(x as (N T, ...))
//
// and x[i, arange(N)], where time stands in front of the batch: of T N entries, i N + n is the i-th
// of sample n.
//
//   i -> Mul(N) -> Add(Range(0, N, 1)) -> Gather(x as (T N, ...))
//
// Graphs are of one sample, whose number is not known: such integers have as their value what they
// are for N = 1 and n = 0, and Value::sample_numbers beside it. What picks by them takes that value
// for the place among the sample's own entries, and refuses what would be another sample's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <hesscope/import/internal/integer_arithmetic.h>
#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// Refuses inputs that count samples, but of operators that carry them on or pick by them.
void require_no_sample_numbers(const OperatorCall& call);

/// The result of a sum, a difference or a product of two integers, with the numbers of samples of
/// both. Refuses products of which each counts samples, or one is not known, and sums of what is
/// times N and what is not.
Value with_sample_numbers(const OperatorCall& call,
                          Value result,
                          const Value& a,
                          const Value& b,
                          IntegerFunction function);

/// The product of integers that data tell and of multiples of N; nothing where it is of others.
std::optional<Value> times_batch(const OperatorCall& call, const Value& a, const Value& b);

/// Of a Movement's result, by its table; null where no input counts samples. Refuses to join what
/// is times N with what is not.
std::shared_ptr<const SampleNumbers> moved_sample_numbers(const OperatorCall& call,
                                                          std::span<const Value> inputs,
                                                          std::span<const std::int32_t> table);

/// How indices pick along an axis.
enum class Picking {
  kAny,    ///< they do not count samples: entries of the axis
  kOwn,    ///< entries of the sample's own; negative ones are the sample before's
  kInTime  ///< the same, times N: negative ones are counted from the end
};

/// Of indices, or every `depth`-th of them from entry `first` on. Refuses what meets other samples.
Picking picking_of(const OperatorCall& call,
                   const Value& data,
                   int axis,
                   const Value& indices,
                   std::int64_t first = 0,
                   std::int64_t depth = 1);

/// The place among the sample's own entries of an axis, of a known index of kOwn: index +
/// per_sample N, without the number of the sample. Refuses what is another sample's.
std::int64_t own_place(const OperatorCall& call,
                       const Axis& along,
                       std::int64_t index,
                       std::int64_t per_sample = 0);

/// The place of an index that is known, among the sample's own where it is of kOwn, else counted
/// from the front. Refuses others.
std::int64_t place_of(const OperatorCall& call,
                      std::int64_t index,
                      const Axis& along,
                      Picking picking);

/// Places that data tell, as a column; negative ones of kOwn are none.
Var places_of(const Value& indices, std::int64_t size, Picking picking);

}  // namespace hesscope::onnx
