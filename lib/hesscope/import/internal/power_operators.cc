// SPDX-License-Identifier: BSD-3-Clause
//
// Pow: as exact as the knowledge of its exponents permits. It keeps samples apart like all
// functions of entries.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include <hesscope/autodiff/internal/graph_patterns.h>
#include <hesscope/import/internal/composition.h>
#include <hesscope/import/internal/integer_arithmetic.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>
#include <hesscope/import/internal/quotients.h>

namespace hesscope::onnx {
namespace {

Var column(const Value& value) { return matrix(value, value.size(), 1); }

// x^c for one c, with exact operations if possible.
Var raised(Var x, double exponent) {
  if (exponent == 1) return x;
  if (exponent == 2) return square(x);
  if (exponent == 0.5) return root_of(x);
  if (exponent == -1) return reciprocal(x);
  return power(x, exponent);
}

// Processes entries with the same constant exponent together, then restores their places.
Var raised_by_groups(Var x, std::span<const double> exponents) {
  std::vector<double> distinct;
  std::vector<std::vector<std::int32_t>> groups;
  for (std::size_t e = 0; e < exponents.size(); ++e) {
    std::size_t g = 0;
    while (g < distinct.size() && !(distinct[g] == exponents[e])) ++g;
    if (g == distinct.size()) {
      distinct.push_back(exponents[e]);
      groups.emplace_back();
    }
    groups[g].push_back(static_cast<std::int32_t>(e));
  }
  std::vector<std::int32_t> place(exponents.size());
  std::optional<Var> all;
  std::int32_t count = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto size = static_cast<std::int32_t>(groups[g].size());
    const Var part = raised(gather(x, groups[g], size, 1), distinct[g]);
    for (std::int32_t k = 0; k < size; ++k) {
      place[static_cast<std::size_t>(groups[g][static_cast<std::size_t>(k)])] = count + k;
    }
    count += size;
    if (!all) {
      all = part;
      continue;
    }
    std::vector<std::int32_t> both(static_cast<std::size_t>(count));
    for (std::int32_t e = 0; e < count; ++e) both[static_cast<std::size_t>(e)] = e;
    all = gather(*all, part, both, count, 1);
  }
  return gather(*all, place, static_cast<Eigen::Index>(place.size()), 1);
}

constexpr std::size_t kMaxExponents = 64;

bool has_few_distinct(std::span<const double> numbers) {
  std::vector<double> distinct(numbers.begin(), numbers.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  return distinct.size() <= kMaxExponents;
}

// 0^y where x = 0, and 0 elsewhere. At 0, x^y has the derivatives of x^c up to the fourth, with c =
// y for whole y, and c halfway between whole numbers otherwise: 0, infinite, or for whole y those
// of a product. With respect to y, its only derivative is 0, since 0^y is 0 for all y > 0.
// @param is_zero  1 where x = 0, 0 elsewhere.
// @param ones     a column like x.
Var powers_of_zero(const OperatorCall& call, Var x, Var y, Var is_zero, Var ones) {
  constexpr double kLargest = 4;  // beyond it, derivatives are 0
  const Var place = 0.5 * (elementary(Elementary::kFloor, y) + elementary(Elementary::kCeil, y));
  // Elsewhere 1 is raised instead, so that no infinite slope is multiplied by 0.
  const auto raised_where = [&](Var flag, double exponent) {
    const Var is_here = hadamard(is_zero, flag);
    return hadamard(is_here, raised(select(is_here, x, ones), exponent));
  };
  Var powers = raised_where(less(place, call.constant(0.0)), -1);
  for (double c = 0; c <= kLargest; c += 0.5) {
    powers = powers + raised_where(equal(place, call.constant(c)), c);
  }
  return powers;
}

// 1 for even whole numbers, -1 for odd ones, NaN for others.
Var sign_of_power(const OperatorCall& call, Var y) {
  const Var floor = elementary(Elementary::kFloor, y);
  const Var is_odd = floor - 2 * elementary(Elementary::kFloor, 0.5 * floor);
  const Var is_whole = equal(floor, y);
  return hadamard(is_whole, call.constant(1.0) - 2 * is_odd) / is_whole;
}

// Whether x is clipped to a positive minimum, as in a generalised mean.
bool is_cut_off_above_zero(Var x) {
  const std::int32_t root = detail::GraphPatterns(x.graph()).root(x.node());
  const Graph::Node& node = x.graph().nodes()[static_cast<std::size_t>(root)];
  return node.op == Graph::Op::kElementary && node.function == Elementary::kClip && node.factor > 0;
}

// x^y for exponents that are not constant, or have too many different values: exp(y log |x|), with
// the sign of whole powers. If exponents depend on parameters, powers of negative numbers are NaN:
// they have no derivative with respect to the exponent.
Var raised_by_entries(const OperatorCall& call, Var x, Var y) {
  if (is_cut_off_above_zero(x)) return exp(hadamard(y, log(x)));
  const Var zero = call.constant(0.0);
  const Var ones = call.constant(std::vector<double>(static_cast<std::size_t>(x.rows()), 1.0));
  const Var is_zero = equal(x, zero);
  const bool is_learned = call.graph().varies(y);
  const Var size = is_learned ? x : abs(x);
  Var power = exp(hadamard(y, log(select(is_zero, ones, size))));
  if (!is_learned) {
    power = hadamard(select(less(x, zero), sign_of_power(call, y), ones), power);
  }
  const Var is_other = call.constant(1.0) - is_zero;
  return hadamard(is_other, power) + powers_of_zero(call, x, y, is_zero, ones);
}

Value power_of(const OperatorCall& call) {
  const Value x = call.real(0);
  const Value y = call.real(second_operand(call));
  const Axes axes = broadcast_axes(call, x.axes, y.axes);
  if (const auto exponent = call.single_number(y)) {
    return call.result(raised(*x.var, *exponent), axes);
  }
  const Value whole = expanded(call, x, axes);
  const Value exponents = expanded(call, y, axes);
  const auto numbers = call.graph().constant_value(*exponents.var);
  if (!numbers.empty() && has_few_distinct(numbers)) {
    const std::vector<double> kept(numbers.begin(), numbers.end());
    return call.result(raised_by_groups(column(whole), kept), axes);
  }
  return call.result(raised_by_entries(call, column(whole), column(exponents)), axes);
}

Values lower_pow(const OperatorCall& call) {
  if (call.input(0).is_known() && call.input(1).is_known()) {
    return {of_integers(call, call.input(0), call.input(1), IntegerFunction::kPower)};
  }
  const Value power = power_of(call);
  if (call.input(0).kind != ElementKind::kInteger) return {power};
  // Integers give integers, rounded towards 0; numbers that rounding has left just below a whole
  // number count as that number.
  const Var missing = elementary(Elementary::kClip, 0x1p-44 * *power.var, -0.25, 0.25);
  return {call.result(whole_part(*power.var + missing), power.axes)};
}

}  // namespace

std::span<const Operator> power_operators() {
  static constexpr auto kPowerOperators = std::to_array<Operator>({
      {"Pow", of_same_kind<lower_pow>},
  });
  return kPowerOperators;
}

}  // namespace hesscope::onnx
