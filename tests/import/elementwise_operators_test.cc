// SPDX-License-Identifier: BSD-3-Clause
//
// Integers that data tell stay integers, so that they are divided as such; functions of numbers at
// the ends of their range.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/graph_simplification.h>
#include <hesscope/autodiff/sweep.h>
#include <hesscope/core/constants.h>
#include <hesscope/simd/instruction_set.h>

#include "import/data_indices.h"
#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using onnx::ElementKind;
using test::add_indices;
using test::expect_computes;
using test::index_at;
using test::OperatorFixture;

constexpr std::int64_t kCount = 12;
const double kNan = std::nan("");

// The entries of a result at these parameters, as a model's graph computes them.
std::vector<double> entries_at(OperatorFixture& op,
                               const onnx::Value& y,
                               const std::vector<double>& theta,
                               InstructionSet set = best_instruction_set()) {
  Graph& g = op.graph();
  const Var z = reshape(*y.var, y.size(), 1);
  g.set_prediction(z);
  g.set_output(sum(z));
  std::vector<double> entries(static_cast<std::size_t>(y.size()));
  const auto graph = simplified(g);
  Sweep::create(*graph, set)->predictions(theta, {.data = nullptr, .count = 1}, entries);
  return entries;
}

TEST(ElementwiseOperators, MakeIntegersOfIntegers) {
  for (const std::string name : {"Abs", "Neg", "Relu", "Sign"}) {
    OperatorFixture op(name);
    add_indices(op, {3}, kCount);
    EXPECT_EQ(op.result().kind, ElementKind::kInteger) << name;
  }
  for (const std::string name : {"Add", "Div", "Max", "Min", "Mod", "Mul", "Pow", "Sub", "Sum"}) {
    OperatorFixture op(name);
    add_indices(op, {3}, kCount);
    EXPECT_EQ(op.integers({}, {5}).result().kind, ElementKind::kInteger) << name;
  }
  OperatorFixture clip("Clip");
  add_indices(clip, {3}, kCount);
  EXPECT_EQ(clip.integers({}, {2}).integers({}, {9}).result().kind, ElementKind::kInteger);
}

TEST(ElementwiseOperators, KeepNumbersNumbers) {
  for (const std::string name : {"Abs", "Neg", "Relu", "Sign"}) {
    OperatorFixture op(name);
    EXPECT_EQ(op.parameter({3}).result().kind, ElementKind::kReal) << name;
  }
}

TEST(Div, OfIntegersIsTowardsZero) {
  for (const std::int64_t divisor : {1, 3, -5, 12, 40}) {
    OperatorFixture op("Div");
    add_indices(op, {3}, kCount);
    const onnx::Value y = op.integers({}, {divisor}).result();
    expect_computes(op, y, [&](const auto& x, const double* record) {
      using T = typename std::decay_t<decltype(x)>::Scalar;
      std::vector<T> entries;
      for (int e = 0; e < 3; ++e) {
        entries.emplace_back(static_cast<double>(index_at(record[e], kCount) / divisor));
      }
      return entries;
    });
  }
}

TEST(Cast, MakesALowIntegerOfWhatIsNone) {
  OperatorFixture op("Cast");
  const onnx::Value y =
      op.with("to", 7).numbers({6}, {-kInfinity, kInfinity, kNan, 1e19, 2.7, -2.7}).result();
  ASSERT_TRUE(y.is_known());
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min() / 2;
  EXPECT_EQ(y.integers->base, (std::vector<std::int64_t>{kLow, kLow, kLow, kLow, 2, -2}));
}

// 49 (1 / 49) is below 1.
TEST(Div, OfIntegersIsExactWhereQuotientsAreRounded) {
  for (const std::int64_t divisor : {3, 49, -49, 98, 103}) {
    std::vector<double> dividends;
    for (std::int64_t k = -20; k <= 20; ++k) {
      for (const std::int64_t rest : {-1, 0, 1}) {
        dividends.push_back(static_cast<double>(k * divisor + rest));
      }
    }
    for (const char* name : {"Div", "Mod"}) {
      OperatorFixture op(name);
      const auto size = static_cast<std::int64_t>(dividends.size());
      const Var x = op.graph().parameter(0, size, 1);
      op.value({.kind = ElementKind::kInteger,
                .axes = onnx::plain_axes({size}),
                .var = elementary(Elementary::kRound, x)});
      const onnx::Value y = op.integers({}, {divisor}).result();
      const std::vector<double> entries = entries_at(op, y, dividends);
      for (std::size_t e = 0; e < entries.size(); ++e) {
        const auto a = static_cast<std::int64_t>(dividends[e]);
        const std::int64_t rest = a % divisor;
        const std::int64_t floored =
            rest != 0 && (rest < 0) != (divisor < 0) ? rest + divisor : rest;
        EXPECT_EQ(entries[e], static_cast<double>(name[0] == 'D' ? a / divisor : floored))
            << name << " of " << a << " and " << divisor;
      }
    }
  }
}

// --- at the ends of the range ---

using Function = std::function<double(double)>;

// An operator of x, with what stands behind it in the file, and what ONNX says it is.
struct Case {
  std::string name;
  Function expected;
  std::function<void(OperatorFixture&)> complete = [](OperatorFixture&) {};
  std::int64_t opset = 22;
};

double between(double x, double lowest, double highest) {
  return x < lowest ? lowest : x > highest ? highest : x;
}

double sign_of(double x) {
  if (std::isnan(x)) return x;
  return x > 0 ? 1 : x < 0 ? -1 : 0;
}

// With lambd = 1, bias = 1/2; NaN of NaN, where ONNX has 0.
double shrunk(double x) {
  if (std::isnan(x)) return x;
  return x < -1 ? x + 0.5 : x > 1 ? x - 0.5 : 0;
}

// A quotient of 2^100 or more leaves no remainder.
double remainder_of(double x, double y) {
  return std::abs(x / y) < 0x1p100 || std::isinf(y) ? std::fmod(x, y) : kNan;
}

double modulus_of(double x, double y) {
  const double rest = remainder_of(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

// Clip before opset 11, with attributes.
Case clip_6(const std::vector<std::pair<const char*, double>>& bounds, Function expected) {
  const auto complete = [bounds](OperatorFixture& op) {
    for (const auto& [name, bound] : bounds) op.with(name, bound);
  };
  return {"Clip", std::move(expected), complete, 6};
}

// With inputs; of no number none.
Case clip_13(const std::vector<std::optional<double>>& bounds, Function expected) {
  const auto complete = [bounds](OperatorFixture& op) {
    for (const auto& bound : bounds) bound ? op.numbers({}, {*bound}) : op.left_out();
  };
  return {"Clip", std::move(expected), complete, 13};
}

Case mod(double y, int is_c) {
  const auto expected = [=](double x) { return is_c == 1 ? remainder_of(x, y) : modulus_of(x, y); };
  return {"Mod", expected, [=](OperatorFixture& op) { op.numbers({}, {y}).with("fmod", is_c); }};
}

Case extreme(const char* name, double y, Function expected) {
  return {name, std::move(expected), [=](OperatorFixture& op) { op.numbers({}, {y}); }};
}

std::vector<Case> cases() {
  const auto nan_or = [](double of_numbers) {
    return [=](double x) { return std::isnan(x) ? x : of_numbers; };
  };
  const auto nothing = [](double) { return kNan; };
  std::vector<Case> all = {
      {"Abs", [](double x) { return std::abs(x); }},
      {"Asinh", [](double x) { return std::asinh(x); }},
      {"Atan", [](double x) { return std::atan(x); }},
      {"Ceil", [](double x) { return std::ceil(x); }},
      {"Celu",
       [](double x) { return x > 0 ? x : 1.5 * std::expm1(x / 1.5); },
       [](OperatorFixture& op) { op.with("alpha", 1.5); }},
      clip_6({{"min", -2}, {"max", 1}}, [](double x) { return between(x, -2, 1); }),
      clip_6({{"min", 1}, {"max", -2}}, nan_or(-2)),
      clip_6({{"min", -2}}, [](double x) { return between(x, -2, kInfinity); }),
      clip_6({{"max", 1}}, [](double x) { return between(x, -kInfinity, 1); }),
      clip_6({{"min", kNan}, {"max", 1}}, nothing),
      clip_6({}, [](double x) { return x; }),
      clip_13({-2, 1}, [](double x) { return between(x, -2, 1); }),
      clip_13({1, -2}, nan_or(-2)),
      clip_13({-2}, [](double x) { return between(x, -2, kInfinity); }),
      clip_13({std::nullopt, 1}, [](double x) { return between(x, -kInfinity, 1); }),
      clip_13({-2, kNan}, nothing),
      clip_13({}, [](double x) { return x; }),
      {"Cosh", [](double x) { return std::cosh(x); }},
      {"Elu", [](double x) { return x > 0 ? x : std::expm1(x); }},
      {"Erf", [](double x) { return std::erf(x); }},
      {"Exp", [](double x) { return std::exp(x); }},
      {"Floor", [](double x) { return std::floor(x); }},
      {"HardSigmoid", [](double x) { return between(0.2 * x + 0.5, 0, 1); }},
      {"HardSwish", [](double x) { return x * between(1.0 / 6.0 * x + 0.5, 0, 1); }},
      {"LeakyRelu", [](double x) { return x > 0 ? x : 0.01 * x; }},
      {"Log", [](double x) { return std::log(x); }},
      extreme("Max", 1, [](double x) { return std::isnan(x) ? x : std::max(x, 1.0); }),
      extreme("Max", kInfinity, nan_or(kInfinity)),
      extreme("Max", kNan, nothing),
      extreme("Min", 1, [](double x) { return std::isnan(x) ? x : std::min(x, 1.0); }),
      extreme("Min", kInfinity, [](double x) { return x; }),
      extreme("Min", kNan, nothing),
      {"Neg", [](double x) { return -x; }},
      {"Reciprocal", [](double x) { return 1 / x; }},
      {"Relu", [](double x) { return x < 0 ? 0 : x; }},
      {"Round", [](double x) { return std::nearbyint(x); }},
      {"Selu",
       [](double x) { return 2 * (x > 0 ? x : 1.5 * std::expm1(x)); },
       [](OperatorFixture& op) { op.with("alpha", 1.5).with("gamma", 2.0); }},
      {"Shrink", shrunk, [](OperatorFixture& op) { op.with("lambd", 1.0).with("bias", 0.5); }},
      {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"Sign", sign_of},
      {"Sinh", [](double x) { return std::sinh(x); }},
      {"Softplus", [](double x) { return (x < 0 ? 0 : x) + std::log1p(std::exp(-std::abs(x))); }},
      {"Softsign", [](double x) { return x / (1 + std::abs(x)); }},
      {"Sqrt", [](double x) { return std::sqrt(x); }},
      {"Tanh", [](double x) { return std::tanh(x); }},
      {"ThresholdedRelu", [](double x) { return x <= 1 ? 0 : x; }},  // NaN of NaN, likewise
  };
  for (const double y : {3.0, -3.0, 0.1, 0.7, -1e-30, 1e290, 0.0, kInfinity, kNan}) {
    all.push_back(mod(y, 1));
    all.push_back(mod(y, 0));
  }
  return all;
}

bool is_same(double found, double expected) {
  if (std::isnan(expected)) return std::isnan(found);
  if (std::isinf(expected)) return found == expected;
  return std::abs(found - expected) <= 1e-15 * std::abs(expected);
}

TEST(ElementwiseOperators, AreOnnxsAtTheEndsOfTheRange) {
  std::vector<double> inputs = {kNan};
  for (const double x : {0.0, 1e-300, 0.5, 1.0, 1.5, 2.5, 6.0, 1e20, 1e300, kInfinity}) {
    inputs.push_back(x);
    inputs.push_back(-x);
  }
  const auto size = static_cast<std::int64_t>(inputs.size());
  const std::vector<Case> all = cases();
  for (const InstructionSet set : supported_instruction_sets()) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Case& c = all[i];
      OperatorFixture op(c.name, c.opset);
      op.parameter({size});
      c.complete(op);
      const std::vector<double> entries = entries_at(op, op.result(), inputs, set);
      for (std::size_t e = 0; e < inputs.size(); ++e) {
        EXPECT_TRUE(is_same(entries[e], c.expected(inputs[e])))
            << c.name << " of " << inputs[e] << " is " << entries[e] << ", not "
            << c.expected(inputs[e]) << " (case " << i << ", " << name_of(set) << ")";
      }
    }
  }
}

// As long division by digits: quotients near integers, and as large as they may be.
TEST(Mod, OfNumbersIsExact) {
  std::vector<double> dividends;
  std::vector<double> divisors;
  for (const double y : {1.0, 0.1, 3.0, 49.0, 1.0 / 3.0, 6755399441055745.0, 1e-310, 1.9999999}) {
    for (const double quotient :
         {1.0, 2.0, 7.0, 49.0, 1e9, 33554432.0, 33554433.0, 1e16, 1e25, 1e30}) {
      const double product = quotient * y;
      for (const double x :
           {std::nextafter(product, 0), product, std::nextafter(product, kInfinity)}) {
        for (const double sign : {-1.0, 1.0}) {
          dividends.push_back(sign * x);
          divisors.push_back(y);
        }
      }
    }
  }
  const auto size = static_cast<std::int64_t>(dividends.size());
  for (const InstructionSet set : supported_instruction_sets()) {
    OperatorFixture op("Mod");
    op.with("fmod", 1).parameter({size}).numbers({size}, divisors);
    const std::vector<double> entries = entries_at(op, op.result(), dividends, set);
    for (std::size_t e = 0; e < entries.size(); ++e) {
      EXPECT_EQ(entries[e], std::fmod(dividends[e], divisors[e]))
          << dividends[e] << " and " << divisors[e] << ", " << name_of(set);
    }
  }
}

// 1 of the dividend, minus the quotient's whole part of the divisor.
TEST(Mod, HasTheSlopesOfASawtooth) {
  OperatorFixture op("Mod");
  const onnx::Value y = op.with("fmod", 1).parameter({4}).parameter({4}).result();
  op.graph().set_output(sum(*y.var));
  const std::vector<double> theta = {7.5, -7.5, 0, 0.5, 2, 2, 3, -0.2};
  std::vector<double> gradient(8);
  Sweep::create(op.graph())->value_and_gradient(theta, {.data = nullptr, .count = 1}, gradient);
  EXPECT_EQ(gradient, (std::vector<double>{1, 1, 1, 1, -3, 3, 0, 2}));
}

}  // namespace
}  // namespace hesscope
