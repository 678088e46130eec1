// SPDX-License-Identifier: BSD-3-Clause
//
// Pow: as exact as its exponents are known. It keeps samples apart as all functions of entries do.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include <hesscope/import/internal/composition.h>
#include <hesscope/import/internal/integer_arithmetic.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>

namespace hesscope::onnx {
namespace {

Var column(const Value& value) { return matrix(value, value.size(), 1); }

// x^c for one c, with the operations that are exact where they can be.
Var raised(Var x, double exponent) {
  if (exponent == 1) return x;
  if (exponent == 2) return square(x);
  if (exponent == 0.5) return sqrt(x);
  if (exponent == -1) return reciprocal(x);
  return power(x, exponent);
}

// Entries with the same constant exponent together, then each in its place.
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

// x^y; of exponents that are no constants exp(y log x), for positive x.
Values lower_pow(const OperatorCall& call) {
  if (call.input(0).is_known() && call.input(1).is_known()) {
    return {of_integers(call, call.input(0), call.input(1), IntegerFunction::kPower)};
  }
  const Value x = call.real(0);
  const Value y = call.real(second_operand(call));
  const Axes axes = broadcast_axes(call, x.axes, y.axes);
  if (const auto exponent = call.single_number(y)) {
    return {call.result(raised(*x.var, *exponent), axes)};
  }
  const Value whole = expanded(call, x, axes);
  const Value exponents = expanded(call, y, axes);
  const auto numbers = call.graph().constant_value(*exponents.var);
  if (!numbers.empty() && has_few_distinct(numbers)) {
    const std::vector<double> kept(numbers.begin(), numbers.end());
    return {call.result(raised_by_groups(column(whole), kept), axes)};
  }
  return {call.result(exp(hadamard(column(exponents), log(column(whole)))), axes)};
}

}  // namespace

std::span<const Operator> power_operators() {
  static constexpr auto kPowerOperators = std::to_array<Operator>({
      {"Pow", of_same_kind<lower_pow>},
  });
  return kPowerOperators;
}

}  // namespace hesscope::onnx
