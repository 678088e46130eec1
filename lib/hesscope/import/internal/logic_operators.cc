// SPDX-License-Identifier: BSD-3-Clause
//
// Comparisons, truth values and type conversions: no derivative passes through a comparison.
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <hesscope/import/internal/batch_totals.h>
#include <hesscope/import/internal/composition.h>
#include <hesscope/import/internal/integer_arithmetic.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>
#include <hesscope/import/internal/quotients.h>

namespace hesscope::onnx {
namespace {

using Relation = Var (*)(Var, Var);

// Truth values are 0 and 1.
Var both(Var a, Var b) { return hadamard(a, b); }

Var either(Var a, Var b) { return a + b - hadamard(a, b); }

Var one_alone(Var a, Var b) { return square(a - b); }

// @param kIsSwapped  compares b with a, as for Greater.
template <Relation kRelation, IntegerFunction kOfIntegers, bool kIsSwapped = false>
Values lower_relation(const OperatorCall& call) {
  const Value second = second_operand(call);
  const Value& left = kIsSwapped ? second : call.input(0);
  const Value& right = kIsSwapped ? call.input(0) : second;
  if (left.is_known() && right.is_known()) return {of_integers(call, left, right, kOfIntegers)};
  const Value a = call.real(left);
  const Value b = call.real(right);
  Axes axes = broadcast_axes(call, a.axes, b.axes);
  const Operands operands = elementwise_operands(call, a, b, axes);
  return {call.result(kRelation(operands.a, operands.b), std::move(axes), ElementKind::kBoolean)};
}

Values lower_not(const OperatorCall& call) {
  const Value& x = call.input(0);
  if (x.is_known()) return {of_integers(call, x, IntegerFunction::kNot)};
  return {call.result(call.constant(1.0) - *x.var, x.axes, ElementKind::kBoolean)};
}

// --- types ---

// Constants become known integers. A value that is not an integer, such as log 0 in a table whose
// entry a mask later discards, becomes an integer lower than all others, but not so low that sums
// with it overflow 64 bits.
Value whole_constant(const OperatorCall& call,
                     const Value& x,
                     std::span<const double> entries,
                     ElementKind kind) {
  Integers whole;
  for (double entry : entries) {
    // On the same side of a jump as in the graph.
    if (x.is_single) entry = as_single(entry);
    if (kind == ElementKind::kBoolean) {
      whole.base.push_back(entry != 0 ? 1 : 0);
      continue;
    }
    whole.base.push_back(std::abs(entry) < 0x1p62 ? static_cast<std::int64_t>(entry)
                                                  : std::numeric_limits<std::int64_t>::min() / 2);
  }
  return call.known_result(std::move(whole), x.axes, kind);
}

// What a type of 8 to 32 bits retains of an integer: its lowest bits.
std::int64_t narrowed(std::int64_t number, std::int64_t onnx_type) {
  switch (onnx_type) {
    case 2:
      return static_cast<std::uint8_t>(number);
    case 3:
      return static_cast<std::int8_t>(number);
    case 4:
      return static_cast<std::uint16_t>(number);
    case 5:
      return static_cast<std::int16_t>(number);
    case 6:
      return static_cast<std::int32_t>(number);
    case 12:
      return static_cast<std::uint32_t>(number);
    default:
      return number;
  }
}

// Converts integers to an integer type; multiples of the number of samples are unchanged.
Value narrowed(const OperatorCall& call, const Value& x, std::int64_t onnx_type) {
  Integers cut = *x.integers;
  for (std::size_t e = 0; e < cut.base.size(); ++e) {
    if (cut.slope(e) == 0) cut.base[e] = narrowed(cut.base[e], onnx_type);
  }
  return call.known_result(std::move(cut), x.axes);
}

// A multiple of the number of samples as a real number, by which sums over the batch are divided.
Value batch_count(const OperatorCall& call, const Value& x) {
  const bool is_multiple =
      std::ranges::all_of(x.integers->base, [](std::int64_t base) { return base == 0; });
  if (!is_multiple) return call.real(x);  // which refuses
  Value count = call.real(call.known_result({.base = x.integers->per_sample}, x.axes));
  count.batch_total = own_batch_total(call, BatchTotal::Kind::kCount);
  return count;
}

// Integers given by data are not changed by a narrow type.
Value cast(const OperatorCall& call, const Value& x, std::int64_t onnx_type) {
  const ElementKind kind = element_kind(onnx_type);
  if (kind == ElementKind::kOther) {
    call.refuse("makes elements of type {}, which are not computed with", type_name(onnx_type));
  }
  if (kind == ElementKind::kReal) {
    const bool is_count = x.is_known() && !x.counts_samples() && x.integers->depends_on_batch();
    Value value = is_count ? batch_count(call, x) : call.real(x);
    value.kind = kind;
    return value;
  }
  if (x.is_known()) {
    if (kind == ElementKind::kInteger) return narrowed(call, x, onnx_type);
    Value value = x;
    if (x.kind != kind) {
      value = of_integers(call, of_integers(call, x, IntegerFunction::kNot), IntegerFunction::kNot);
    }
    value.kind = kind;
    return value;
  }
  if (x.kind == kind || (x.kind == ElementKind::kBoolean && kind == ElementKind::kInteger)) {
    Value value = x;
    value.kind = kind;
    return value;
  }
  const auto entries = call.graph().constant_value(*x.var);
  if (!entries.empty()) return whole_constant(call, x, entries, kind);
  if (kind == ElementKind::kBoolean) {
    const Var is_zero = equal(*x.var, call.constant(0.0));
    return call.result(call.constant(1.0) - is_zero, x.axes, kind);
  }
  return call.result(whole_part(*x.var), x.axes, kind);
}

// For a data file that fits into memory.
constexpr std::int64_t kMostSamples = std::int64_t{1} << 30;

Values lower_cast(const OperatorCall& call) {
  const Value& x = call.input(0);
  Value value = cast(call, x, call.integer("to", 0));
  const bool is_wide = narrowed(kMostSamples, call.integer("to", 0)) == kMostSamples;
  if (x.counts_samples() && !(value.kind == ElementKind::kInteger && is_wide)) {
    call.refuse(
        "input 1 counts samples (Range over the batch, N): that is read as integers of 32 bits or "
        "more, where each sample picks entries of its own by it, as in x[arange(N), i]");
  }
  value.sample_numbers = x.sample_numbers;
  return {value};
}

Values lower_cast_like(const OperatorCall& call) {
  switch (call.input(1).kind) {
    case ElementKind::kReal:
      return {cast(call, call.input(0), 1)};
    case ElementKind::kInteger:
      return {cast(call, call.input(0), 7)};
    case ElementKind::kBoolean:
      return {cast(call, call.input(0), 9)};
    case ElementKind::kOther:
      break;
  }
  call.refuse("takes a type that is not computed with");
}

// Its inputs: the condition, the result of the first branch, that of the second. Only the branch
// that is taken has been recorded.
Values lower_if(const OperatorCall& call) {
  const std::size_t count = call.num_outputs();
  if (call.num_inputs() != 1 + 2 * count) {
    call.refuse("stands in a function, where branches are not read: inline the model's functions");
  }
  const std::optional<std::int64_t> condition = call.input(0).single_integer();
  if (!condition) {
    call.refuse(
        "its condition depends on data, parameters, or the number of samples, and only one "
        "branch can be imported");
  }
  const std::size_t first = *condition != 0 ? 1 : 1 + count;
  Values taken;
  for (std::size_t i = 0; i < count; ++i) taken.push_back(call.tensor_or_sequence(first + i));
  return taken;
}

}  // namespace

std::span<const Operator> logic_operators() {
  static constexpr auto kLogicOperators = std::to_array<Operator>({
      {"And", lower_relation<both, IntegerFunction::kAnd>, kNoSlope},
      {"Cast", lower_cast, kSlopeOfFirst},
      {"CastLike", lower_cast_like, kAllSlopes, 15},
      {"Equal", lower_relation<equal, IntegerFunction::kEqual>, kNoSlope, 6, kJumps},
      {"Greater", lower_relation<less, IntegerFunction::kLess, true>, kNoSlope, 6, kJumps},
      {"GreaterOrEqual",
       lower_relation<less_or_equal, IntegerFunction::kLessOrEqual, true>,
       kNoSlope,
       12,
       kJumps},
      {"If", lower_if, kAllSlopes & ~std::uint32_t{1}, 1},
      {"Less", lower_relation<less, IntegerFunction::kLess>, kNoSlope, 6, kJumps},
      {"LessOrEqual",
       lower_relation<less_or_equal, IntegerFunction::kLessOrEqual>,
       kNoSlope,
       12,
       kJumps},
      {"Not", lower_not, kNoSlope, 1},
      {"Or", lower_relation<either, IntegerFunction::kOr>, kNoSlope},
      {"Xor", lower_relation<one_alone, IntegerFunction::kXor>, kNoSlope},
  });
  return kLogicOperators;
}

}  // namespace hesscope::onnx
