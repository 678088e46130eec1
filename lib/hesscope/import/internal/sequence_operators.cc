// SPDX-License-Identifier: BSD-3-Clause
//
// Sequences of tensors, as built by loops.
#include <algorithm>
#include <array>

#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>

namespace hesscope::onnx {
namespace {

// The place given by input i, counted from the front or, if negative, from the end; the last of
// `count` if it is omitted.
std::size_t place(const OperatorCall& call, std::size_t i, std::size_t count) {
  const auto size = static_cast<std::int64_t>(count);
  const std::int64_t given = call.known_scalar(i).value_or(size - 1);
  if (given < -size || given >= size) {
    call.refuse("place {} is none of a sequence for which there are {}", given, size);
  }
  return static_cast<std::size_t>(given < 0 ? given + size : given);
}

Values lower_sequence_empty(const OperatorCall& call) { return {call.sequence_result({})}; }

Values lower_sequence_construct(const OperatorCall& call) {
  Values tensors;
  for (std::size_t i = 0; i < call.num_inputs(); ++i) tensors.push_back(call.input(i));
  return {call.sequence_result(std::move(tensors))};
}

// Inserts before the tensor at a place, or after the last.
Values lower_sequence_insert(const OperatorCall& call) {
  Values tensors = call.sequence(0);
  const std::size_t count = tensors.size();
  const bool is_last = !call.has(2) || call.known_scalar(2) == static_cast<std::int64_t>(count);
  const std::size_t at = is_last ? count : place(call, 2, count);
  tensors.insert(tensors.begin() + static_cast<std::ptrdiff_t>(at), call.input(1));
  return {call.sequence_result(std::move(tensors))};
}

Values lower_sequence_erase(const OperatorCall& call) {
  Values tensors = call.sequence(0);
  const std::size_t at = place(call, 1, tensors.size());
  tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(at));
  return {call.sequence_result(std::move(tensors))};
}

Values lower_sequence_at(const OperatorCall& call) {
  const Values& tensors = call.sequence(0);
  call.input(1);  // must exist
  return {tensors[place(call, 1, tensors.size())]};
}

Values lower_sequence_length(const OperatorCall& call) {
  const auto length = static_cast<std::int64_t>(call.sequence(0).size());
  return {call.known_result({.base = {length}}, {})};
}

Values lower_concat_from_sequence(const OperatorCall& call) {
  const Values& tensors = call.sequence(0);
  if (!call.has_attribute("axis")) call.refuse("needs its axis");
  const std::int64_t axis = call.integer("axis", 0);
  if (call.integer("new_axis", 0) == 0) return {joined(call, tensors, axis)};
  return {stacked(call, tensors, axis)};
}

Values lower_split_to_sequence(const OperatorCall& call) {
  const Value& x = call.input(0);
  const int axis = call.axis(call.integer("axis", 0), x.rank());
  const std::int64_t size = x.axes[static_cast<std::size_t>(axis)].size;
  std::vector<std::int64_t> lengths;
  if (call.has(1) && call.input(1).rank() > 0) {
    lengths = call.known(1);
  } else {  // for all but the last
    const std::int64_t each = call.known_scalar(1).value_or(1);
    if (each < 1) call.refuse("splits into parts of {}", each);
    for (std::int64_t left = size; left > 0; left -= each) lengths.push_back(std::min(each, left));
  }
  Values parts = parts_along(call, x, axis, lengths);
  if (!call.has(1) && call.integer("keepdims", 1) == 0) {
    for (Value& part : parts) part = without_axis(call, part, axis);
  }
  return {call.sequence_result(std::move(parts))};
}

}  // namespace

std::span<const Operator> sequence_operators() {
  static constexpr auto kSequenceOperators = std::to_array<Operator>({
      {"ConcatFromSequence", lower_concat_from_sequence, kAllSlopes, 11},
      {"SequenceAt", lower_sequence_at, kSlopeOfFirst, 11},
      {"SequenceConstruct", lower_sequence_construct, kAllSlopes, 11},
      {"SequenceEmpty", lower_sequence_empty, kNoSlope, 11},
      {"SequenceErase", lower_sequence_erase, kSlopeOfFirst, 11},
      {"SequenceInsert", lower_sequence_insert, kAllSlopes & ~std::uint32_t{4}, 11},
      {"SequenceLength", lower_sequence_length, kNoSlope, 11},
      {"SplitToSequence", lower_split_to_sequence, kSlopeOfFirst, 11},
  });
  return kSequenceOperators;
}

}  // namespace hesscope::onnx
