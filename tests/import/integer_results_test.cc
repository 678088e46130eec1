// SPDX-License-Identifier: BSD-3-Clause
//
// Integers stay integers behind each operator that ONNX has for them: a Div behind it cuts towards
// 0. The numbers are those of NumPy's integer arithmetic.
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/import/importer.h>
#include <hesscope/onnx/onnx_file.h>

#include "import/data_indices.h"
#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using onnx::ElementKind;
using test::add_indices;
using test::expect_computes;
using test::expect_refused;
using test::index_at;
using test::OperatorFixture;

using Numbers = std::vector<double>;
using WholeNumbers = std::vector<std::int64_t>;

// An operator of integers, with its attributes and its inputs.
struct IntegerCase {
  std::string op;
  std::function<void(OperatorFixture&)> complete;
};

// Integers that are constants of the graph, as opposed to known ones.
onnx::Value whole_numbers(Graph& graph, const std::vector<std::int64_t>& shape, Numbers entries) {
  const auto size = static_cast<Eigen::Index>(entries.size());
  return {.kind = ElementKind::kInteger,
          .axes = onnx::plain_axes(shape),
          .var = graph.constant(entries, size, 1)};
}

std::vector<IntegerCase> integer_cases() {
  const auto of_data = [](OperatorFixture& op) { add_indices(op, {1, 2, 2}, 5); };
  const auto matrices = [](OperatorFixture& op) {
    op.value(whole_numbers(op.graph(), {2, 2}, {1, 2, 3, 4})).integers({2, 2}, {1, 0, 2, 1});
  };
  std::vector<IntegerCase> all;
  for (const char* name :
       {"ReduceL1", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSumSquare"}) {
    all.push_back({name, [=](OperatorFixture& op) { of_data(op.with("axes", {3})); }});
  }
  const std::vector<IntegerCase> others = {
      {"ReduceSum", [=](OperatorFixture& op) { of_data(op), op.integers({1}, {3}); }},
      {"MatMul", matrices},
      {"Gemm", matrices},
      {"Einsum", [=](OperatorFixture& op) { matrices(op.with("equation", "ij,jk->ik")); }},
      {"PRelu", [=](OperatorFixture& op) { of_data(op), op.integers({}, {3}); }},
      {"Shrink", of_data},
      {"MaxPool",
       [=](OperatorFixture& op) {
         of_data(op.with("kernel_shape", {2, 2}));
       }},
      {"Resize",
       [=](OperatorFixture& op) {
         of_data(op);
         op.left_out().left_out().integers({4}, {0, 1, 4, 4}, {1, 0, 0, 0});
       }},
      {"GridSample",
       [=](OperatorFixture& op) {
         of_data(op.with("mode", "nearest")), op.data({1, 1, 2});
       }},
      {"ScatterElements",
       [](OperatorFixture& op) {
         op.with("reduction", "add").integers({3}, {5, 6, 7}).integers({1}, {1});
         op.value(whole_numbers(op.graph(), {1}, {2}));
       }},
      {"Concat", [=](OperatorFixture& op) { of_data(op.with("axis", 1)), of_data(op); }},
      {"CumSum", [=](OperatorFixture& op) { of_data(op), op.integers({}, {3}); }},
      {"Expand",
       [=](OperatorFixture& op) {
         of_data(op), op.integers({4}, {1, 3, 1, 1});
       }},
      {"Gather", [=](OperatorFixture& op) { of_data(op.with("axis", 2)), op.integers({}, {1}); }},
      {"Pad",
       [=](OperatorFixture& op) {
         of_data(op), op.integers({8}, {0, 0, 1, 0, 0, 0, 0, 0});
       }},
      {"Tile",
       [=](OperatorFixture& op) {
         of_data(op), op.integers({4}, {1, 1, 2, 1});
       }},
      {"Where",
       [=](OperatorFixture& op) { op.integers({}, {1}), of_data(op), op.integers({}, {1}); }},
      {"ArgMax", [=](OperatorFixture& op) { of_data(op.with("axis", 3)); }},
  };
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

TEST(IntegerResults, AreIntegersWhereDataTellThem) {
  for (const IntegerCase& c : integer_cases()) {
    OperatorFixture op(c.op);
    c.complete(op);
    EXPECT_EQ(op.result().kind, ElementKind::kInteger) << c.op;
  }
}

// y = Div(OP(x), 2) for x = (1, 2, -4), of a graph with these two nodes.
Numbers half_of(const std::string& op) {
  onnx::OnnxFile file;
  file.path = "model.onnx";
  file.opset = 17;
  const auto named = [](const char* name) {
    onnx::ValueInfo info;
    info.name = name;
    return info;
  };
  file.inputs = {named("x"), named("axes"), named("two")};
  file.outputs = {named("y")};
  onnx::Node first;
  first.op = op;
  first.inputs = {"x"};
  first.outputs = {"r"};
  if (op == "ReduceSum") {
    first.inputs.emplace_back("axes");
  } else {
    first.attributes = {{.name = "axes", .value = WholeNumbers{1}}};
  }
  onnx::Node second;
  second.op = "Div";
  second.inputs = {"r", "two"};
  second.outputs = {"y"};
  file.nodes = {first, second};

  Graph graph;
  const auto known = [](const std::vector<std::int64_t>& shape, std::int64_t number) {
    const onnx::Integers integers{.base = {number}};
    return onnx::Value{.kind = ElementKind::kInteger,
                       .axes = onnx::plain_axes(shape),
                       .integers = std::make_shared<const onnx::Integers>(integers)};
  };
  const std::map<std::string, onnx::Value> given = {{"x", whole_numbers(graph, {1, 3}, {1, 2, -4})},
                                                    {"axes", known({1}, 1)},
                                                    {"two", known({}, 2)}};
  const onnx::Value y = onnx::import_output(file, onnx::dependencies_of(file, "y"), graph, given);
  const auto entries = graph.constant_value(*y.var);
  return {entries.begin(), entries.end()};
}

TEST(IntegerResults, AreDividedAsIntegers) {
  EXPECT_EQ(half_of("ReduceSum"), (Numbers{0}));         // -1 / 2
  EXPECT_EQ(half_of("ReduceMax"), (Numbers{1}));         // 2 / 2
  EXPECT_EQ(half_of("ReduceMin"), (Numbers{-2}));        // -4 / 2
  EXPECT_EQ(half_of("ReduceProd"), (Numbers{-4}));       // -8 / 2
  EXPECT_EQ(half_of("ReduceL1"), (Numbers{3}));          // 7 / 2
  EXPECT_EQ(half_of("ReduceSumSquare"), (Numbers{10}));  // 21 / 2
  EXPECT_EQ(half_of("ReduceMean"), (Numbers{0}));        // 0 / 2
}

TEST(IntegerResults, OfKnownIntegersAreKnown) {
  const auto reduced = [](const std::string& op, WholeNumbers entries) {
    OperatorFixture reduction(op);
    const auto size = static_cast<std::int64_t>(entries.size());
    return reduction.integers({size}, std::move(entries)).result().integers->base;
  };
  EXPECT_EQ(reduced("ReduceL1", {3, -4}), (WholeNumbers{7}));
  EXPECT_EQ(reduced("ReduceSumSquare", {3, -4}), (WholeNumbers{25}));
  EXPECT_EQ(reduced("ReduceMean", {3, 4}), (WholeNumbers{3}));
  EXPECT_EQ(reduced("ReduceMean", {-3, -4}), (WholeNumbers{-3}));
}

// base + slope N, N at least 1.
TEST(IntegerResults, OfTheNumberOfSamplesAreThoseForAllNumbers) {
  struct Line {
    std::int64_t base;
    std::int64_t slope;

    bool operator==(const Line&) const = default;
  };

  const auto add = [](OperatorFixture& fixture, const std::vector<Line>& operands) {
    for (const Line& x : operands) fixture.integers({1}, {x.base}, {x.slope});
  };
  const auto of = [&](const char* op, const std::vector<Line>& operands) {
    OperatorFixture fixture(op);
    add(fixture, operands);
    const onnx::Value y = fixture.result();
    return Line{y.integers->base[0], y.integers->slope(0)};
  };
  const Line n = {0, 1};
  EXPECT_EQ(of("Abs", {n}), n);
  EXPECT_EQ(of("Abs", {{1, -3}}), (Line{-1, 3}));
  EXPECT_EQ(of("Abs", {{-1, 1}}), (Line{-1, 1}));
  EXPECT_EQ(of("Abs", {{-5, 0}}), (Line{5, 0}));
  EXPECT_EQ(of("Sign", {n}), (Line{1, 0}));
  EXPECT_EQ(of("Sign", {{0, -2}}), (Line{-1, 0}));
  EXPECT_EQ(of("Sign", {{0, 0}}), (Line{0, 0}));
  EXPECT_EQ(of("Max", {n, {1, 0}}), n);
  EXPECT_EQ(of("Max", {{1, 0}, n}), n);
  EXPECT_EQ(of("Min", {n, {1, 0}}), (Line{1, 0}));
  EXPECT_EQ(of("Max", {n, {0, -1}}), n);
  EXPECT_EQ(of("Min", {n, {2, 2}}), n);
  const char* const kReason = "computes with the number of samples in the batch";
  for (const auto& [op, operands] : std::vector<std::pair<const char*, std::vector<Line>>>{
           {"Abs", {{-2, 1}}}, {"Sign", {{-1, 1}}}, {"Max", {n, {2, 0}}}, {"Min", {{3, 0}, n}}}) {
    OperatorFixture fixture(op);
    add(fixture, operands);
    expect_refused(fixture, kReason);
  }
  OperatorFixture least("Abs");
  least.integers({1}, {std::numeric_limits<std::int64_t>::min()});
  expect_refused(least, "beyond 64 bits");
}

// 49 (1 / 49) is below 1, so that a mean must be a quotient.
TEST(ReduceMean, OfIntegersIsTowardsZero) {
  for (const int length : {2, 3, 49}) {
    OperatorFixture op("ReduceMean");
    add_indices(op, {length}, 4);
    const onnx::Value y = op.with("axes", {1}).result();
    expect_computes(op, y, [length](const auto& x, const double* record) {
      using T = typename std::decay_t<decltype(x)>::Scalar;
      Eigen::Index total = 0;
      for (int e = 0; e < length; ++e) total += index_at(record[e], 4);
      return std::vector<T>{T(static_cast<double>(total / length))};
    });
  }
  OperatorFixture ones("ReduceMean");
  ones.value(whole_numbers(ones.graph(), {49}, Numbers(49, 1.0)));
  const onnx::Value one = ones.result();
  EXPECT_EQ(ones.graph().constant_value(*one.var).front(), 1);
}

// As NumPy cuts the real power: 2^0.5 is 1, 2^-1 is 0.
TEST(Pow, OfIntegersIsTowardsZero) {
  const auto power = [](const Numbers& exponents) {
    OperatorFixture op("Pow");
    op.value(whole_numbers(op.graph(), {6}, {0, 1, 2, -2, 16, 81}));
    const auto size = static_cast<std::int64_t>(exponents.size());
    const onnx::Value y = op.numbers({size}, exponents).result();
    EXPECT_EQ(y.kind, ElementKind::kInteger);
    const auto entries = op.graph().constant_value(*y.var);
    return Numbers(entries.begin(), entries.end());
  };
  EXPECT_EQ(power({3}), (Numbers{0, 1, 8, -8, 4096, 531441}));
  EXPECT_EQ(power({0.5, 0.5, 0.5, 3, 0.25, 0.75}), (Numbers{0, 1, 1, -8, 2, 27}));
  EXPECT_EQ(power({2, -1, -1, -1, -0.5, -0.25}), (Numbers{0, 1, 0, 0, 0, 0}));

  OperatorFixture large("Pow");
  large.value(whole_numbers(large.graph(), {1}, {94906265})).numbers({}, {2});
  const onnx::Value square = large.result();
  EXPECT_EQ(large.graph().constant_value(*square.var).front(), 9007199136250225.0);

  OperatorFixture data("Pow");
  add_indices(data, {8}, 20);
  add_indices(data, {8}, 9);
  expect_computes(data, data.result(), [](const auto& x, const double* record) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    std::vector<T> entries;
    for (Eigen::Index e = 0; e < 8; ++e) {
      double whole = 1;
      for (Eigen::Index k = 0; k < index_at(record[8 + e], 9); ++k) {
        whole *= static_cast<double>(index_at(record[e], 20));
      }
      entries.emplace_back(whole);
    }
    return entries;
  });
}

TEST(Pow, OfKnownIntegersIsTowardsZero) {
  OperatorFixture op("Pow");
  op.integers({7}, {2, 1, -1, -1, 0, 3, -2}).integers({7}, {-1, -5, -3, 65, 2, 4, 63});
  EXPECT_EQ(op.result().integers->base,
            (WholeNumbers{0, 1, -1, -1, 0, 81, std::numeric_limits<std::int64_t>::min()}));
  OperatorFixture quotient("Pow");
  quotient.integers({}, {0}).integers({}, {-1});
  expect_refused(quotient, "divides an integer by 0");
  OperatorFixture beyond("Pow");
  beyond.integers({}, {2}).integers({}, {63});
  expect_refused(beyond, "beyond 64 bits");
}

TEST(Cast, CutsKnownIntegersToTheTypesBits) {
  const auto cast = [](int type) {
    OperatorFixture op("Cast");
    return op.with("to", type).integers({3}, {300, -7, 4294967297}).result().integers->base;
  };
  EXPECT_EQ(cast(2), (WholeNumbers{44, 249, 1}));           // uint8
  EXPECT_EQ(cast(3), (WholeNumbers{44, -7, 1}));            // int8
  EXPECT_EQ(cast(4), (WholeNumbers{300, 65529, 1}));        // uint16
  EXPECT_EQ(cast(5), (WholeNumbers{300, -7, 1}));           // int16
  EXPECT_EQ(cast(6), (WholeNumbers{300, -7, 1}));           // int32
  EXPECT_EQ(cast(7), (WholeNumbers{300, -7, 4294967297}));  // int64
  EXPECT_EQ(cast(12), (WholeNumbers{300, 4294967289, 1}));  // uint32
  OperatorFixture samples("Cast");
  const onnx::Value size = samples.with("to", 6).integers({1}, {0}, {3}).result();
  EXPECT_EQ(size.integers->slope(0), 3);
}

TEST(IntegerResults, AreRefusedWhereTheyWouldBeFractions) {
  for (const char* name : {"ReduceL2", "ReduceLogSum", "ReduceLogSumExp"}) {
    OperatorFixture op(name);
    add_indices(op, {3}, 5);
    expect_refused(op.with("axes", {1}), "reduces integers");
    OperatorFixture known(name);
    expect_refused(known.integers({2}, {1, 2}), "reduces integers");
  }
  OperatorFixture gemm("Gemm");
  gemm.with("alpha", 0.5).integers({1, 1}, {3}).integers({1, 1}, {3});
  expect_refused(gemm, "adds fractions of integers");
  OperatorFixture shrink("Shrink");
  add_indices(shrink.with("bias", 0.5), {3}, 5);
  expect_refused(shrink, "adds a fraction to integers");
  OperatorFixture resize("Resize");
  add_indices(resize.with("mode", "linear"), {1, 2, 2}, 5);
  resize.left_out().left_out().integers({4}, {0, 1, 4, 4}, {1, 0, 0, 0});
  expect_refused(resize, "interpolates between integers");
}

}  // namespace
}  // namespace hesscope
