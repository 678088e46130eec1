// SPDX-License-Identifier: BSD-3-Clause
//
// The numbers of samples, 0 to N - 1, with which exporters write x[arange(N), i]: with the batch in
// front of an axis of T entries, they form one axis of N T entries, where n T + i is the i-th entry
// of sample n.
//
//   Range(0, N, 1) -> Mul(T) -> Add(i) -> Gather(x as (N T, ...))
//
// and x[i, arange(N)], with time in front of the batch: of the T N entries, i N + n is the i-th of
// sample n.
//
//   i -> Mul(N) -> Add(Range(0, N, 1)) -> Gather(x as (T N, ...))
//
// Graphs are for one sample, whose number is unknown: the value of such integers is that for N = 1
// and n = 0, supplemented by Value::sample_numbers. Operators that select entries by them use that
// value as the position among the sample's own entries, and refuse positions of other samples.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <hesscope/import/internal/integer_arithmetic.h>
#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// Refuses inputs that number samples, except for operators that propagate them or select by them.
void require_no_sample_numbers(const OperatorCall& call);

/// The result of a sum, a difference or a product of two integers, with the sample numbers of both.
/// Refuses products in which both factors number samples or one is unknown, and sums of numbers
/// that are multiplied by N and others that are not.
Value with_sample_numbers(const OperatorCall& call,
                          Value result,
                          const Value& a,
                          const Value& b,
                          IntegerFunction function);

/// The product of integers given by data and of multiples of N; nothing if other factors are
/// involved.
std::optional<Value> times_batch(const OperatorCall& call, const Value& a, const Value& b);

/// For a Movement's result, by its table; null if no input numbers samples. Refuses to join numbers
/// that are multiplied by N with others that are not.
std::shared_ptr<const SampleNumbers> moved_sample_numbers(const OperatorCall& call,
                                                          std::span<const Value> inputs,
                                                          std::span<const std::int32_t> table);

/// How indices select entries along an axis.
enum class Picking {
  kAny,    ///< they do not number samples: entries of the axis
  kOwn,    ///< the sample's own entries; negative ones belong to the previous sample
  kInTime  ///< the same, times N: negative ones count from the end
};

/// For the indices, or every `depth`-th of them from entry `first` on. Refuses those that reach
/// other samples.
Picking picking_of(const OperatorCall& call,
                   const Value& data,
                   int axis,
                   const Value& indices,
                   std::int64_t first = 0,
                   std::int64_t depth = 1);

/// The position among the sample's own entries of an axis, for a known index of kOwn: index +
/// per_sample N, without the number of the sample. Refuses entries of other samples.
std::int64_t own_place(const OperatorCall& call,
                       const Axis& along,
                       std::int64_t index,
                       std::int64_t per_sample = 0);

/// The position of a known index: among the sample's own entries for kOwn, else counted from the
/// front. Refuses others.
std::int64_t place_of(const OperatorCall& call,
                      std::int64_t index,
                      const Axis& along,
                      Picking picking);

/// Positions given by data, as a column; negative ones of kOwn are invalid.
Var places_of(const Value& indices, std::int64_t size, Picking picking);

}  // namespace hesscope::onnx
