// SPDX-License-Identifier: BSD-3-Clause
//
// Loops and sequences in whole graphs, against loops written here: of parameters w and constants.
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/sweep.h>
#include <hesscope/import/importer.h>
#include <hesscope/onnx/onnx_file.h>

#include "support/files.h"
#include "support/onnx_bytes.h"
#include "support/refusal.h"

namespace hesscope::test::onnx {
namespace {

using hesscope::onnx::ElementKind;
using hesscope::onnx::ImportLimits;
using hesscope::onnx::Integers;
using hesscope::onnx::Value;

using Numbers = std::vector<double>;

std::string loop(const Names& inputs,
                 const Names& outputs,
                 const Names& body_inputs,
                 const std::vector<std::string>& nodes,
                 const Names& body_outputs) {
  return unnamed("Loop", inputs, outputs, {subgraph("body", body_inputs, nodes, body_outputs)});
}

std::string scalar(const std::string& name, std::int64_t type, std::int64_t value) {
  return tensor(name, type, {}, type == kBool ? int32s({value}) : int64s({value}));
}

std::string integers(const std::string& name, const std::vector<std::int64_t>& attribute_values) {
  return attribute(name, AttributeType::kInts, packed(8, attribute_values));
}

// A graph with output y of a parameter w = (1, 2)'s entries, and constants.
struct Loops {
  std::vector<std::string> nodes;
  std::vector<std::string> constants = {};
  ImportLimits limits = {};
  Value w_in_place = {};  // something else than the parameter

  // Axes and entries of y.
  std::pair<std::string, Numbers> operator()() const {
    ModelText text{.nodes = nodes, .initializers = constants};
    text.inputs = {value_info("w", kFloat, "")};
    text.outputs = {value_info("y", kFloat, "")};
    const ScratchFolder folder;
    write_bytes(folder / "model.onnx", model(text));
    const hesscope::onnx::OnnxFile file = hesscope::onnx::read_onnx_file(folder / "model.onnx");
    Graph graph;
    const Value w = {.axes = hesscope::onnx::plain_axes({2}), .var = graph.parameter(0, 2, 1)};
    const std::map<std::string, Value> given = {{"w", w_in_place.is_known() ? w_in_place : w}};
    const Value y = hesscope::onnx::import_output(
        file, hesscope::onnx::dependencies_of(file, "y"), graph, given, limits);
    if (y.is_known()) {
      return {text_of(y), {y.integers->base.begin(), y.integers->base.end()}};
    }
    graph.set_prediction(*y.var);
    graph.set_output(sum(*y.var));
    Numbers entries(static_cast<std::size_t>(y.size()));
    Sweep::create(graph)->predictions(
        Numbers{1, 2}, {.data = nullptr, .count = 1, .stride = 0}, entries);
    return {text_of(y), entries};
  }

  static std::string text_of(const Value& value) { return hesscope::onnx::text(value.axes); }
};

void expect(const Loops& loops, const std::string& axes, const Numbers& entries) {
  const auto [got_axes, got] = loops();
  EXPECT_EQ(got_axes, axes);
  ASSERT_EQ(got.size(), entries.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], entries[i], 1e-12) << i;
}

void expect_no(const Loops& loops, const std::string& message) {
  expect_refusal<InputError>([&] { loops(); }, message);
}

const std::string kThree = scalar("m", kInt64, 3);
const std::string kTrue = scalar("c", kBool, 1);
const std::string kDouble = unnamed("Add", {"h", "h"}, {"g"});

TEST(Loops, GoRoundAsOftenAsTheCountSays) {
  const auto doubled = [&](const Names& inputs, const std::vector<std::string>& constants) {
    return Loops{{loop(inputs, {"y"}, {"i", "d", "h"}, {kDouble}, {"d", "g"})}, constants};
  };
  expect(doubled({"m", "c", "w"}, {kThree, kTrue}), "(2,)", {8, 16});
  expect(doubled({"m", "", "w"}, {kThree}), "(2,)", {8, 16});
  expect(doubled({"m", "c", "w"}, {kThree, scalar("c", kBool, 0)}), "(2,)", {1, 2});
  expect(doubled({"m", "c", "w"}, {scalar("m", kInt64, 0), kTrue}), "(2,)", {1, 2});
}

TEST(Loops, EndWhereTheirConditionDoes) {
  // k counts from 0: while k + 1 < 5.
  const Loops loops{
      {loop({"", "c", "w", "zero"},
            {"y"},
            {"i", "d", "h", "k"},
            {kDouble, unnamed("Add", {"k", "one"}, {"n"}), unnamed("Less", {"n", "five"}, {"e"})},
            {"e", "g", "n"})},
      {kTrue, scalar("zero", kInt64, 0), scalar("one", kInt64, 1), scalar("five", kInt64, 5)}};
  expect(loops, "(2,)", {32, 64});
}

TEST(Loops, SayTheRoundAndStackWhatTheyGive) {
  // In iteration i, the body gives i h and passes h + w on.
  const std::vector<std::string> body = {unnamed("Add", {"h", "w"}, {"g"}),
                                         unnamed("Cast", {"i"}, {"r"}, {int_attribute("to", 1)}),
                                         unnamed("Mul", {"r", "h"}, {"p"})};
  expect({{loop({"m", "", "w"}, {"", "y"}, {"i", "d", "h"}, body, {"d", "g", "p"})}, {kThree}},
         "(3, 2)",
         {0, 0, 2, 4, 6, 12});
  // Integers that are known stay so.
  expect({{loop({"m", "", "w"}, {"", "y"}, {"i", "d", "h"}, body, {"d", "g", "i"})}, {kThree}},
         "(3,)",
         {0, 1, 2});
}

TEST(Loops, MayTakeAnotherBranchEachRound) {
  // h squared where i = 1, else h + 1: ((1 + 1)^2 + 1, (2 + 1)^2 + 1).
  const std::string choice =
      unnamed("If",
              {"is"},
              {"g"},
              {subgraph("then_branch", {}, {unnamed("Mul", {"h", "h"}, {"a"})}, {"a"}),
               subgraph("else_branch", {}, {unnamed("Add", {"h", "unit"}, {"b"})}, {"b"})});
  const Loops loops{{loop({"m", "", "w"},
                          {"y"},
                          {"i", "d", "h"},
                          {unnamed("Equal", {"i", "one"}, {"is"}), choice},
                          {"d", "g"})},
                    {kThree, scalar("one", kInt64, 1), tensor("unit", kFloat, {}, floats({1}))}};
  expect(loops, "(2,)", {5, 10});
}

TEST(Loops, MayStandInLoops) {
  // Twice in each of three rounds.
  const std::string inner = loop({"two", "", "h"}, {"f"}, {"j", "e", "h"}, {kDouble}, {"e", "g"});
  expect({{loop({"m", "", "w"}, {"y"}, {"i", "d", "h"}, {inner}, {"d", "f"})},
          {kThree, scalar("two", kInt64, 2)}},
         "(2,)",
         {64, 128});
}

TEST(Loops, FillSequences) {
  // h, 2 h, 4 h, one behind the other and along a new axis; the second of them.
  const std::vector<std::string> filled = {
      unnamed("SequenceEmpty", {}, {"none"}),
      loop({"m", "", "w", "none"},
           {"", "all"},
           {"i", "d", "h", "s"},
           {kDouble, unnamed("SequenceInsert", {"s", "h"}, {"t"})},
           {"d", "g", "t"})};
  const auto with = [&](const std::string& last) {
    Loops loops{filled, {kThree, scalar("one", kInt64, 1), scalar("back", kInt64, -3)}};
    loops.nodes.push_back(last);
    return loops;
  };
  const auto joined = [](std::int64_t axis, std::int64_t is_new) {
    return unnamed("ConcatFromSequence",
                   {"all"},
                   {"y"},
                   {int_attribute("axis", axis), int_attribute("new_axis", is_new)});
  };
  expect(with(joined(0, 0)), "(6,)", {1, 2, 2, 4, 4, 8});
  expect(with(joined(0, 1)), "(3, 2)", {1, 2, 2, 4, 4, 8});
  expect(with(joined(-1, 1)), "(2, 3)", {1, 2, 4, 2, 4, 8});
  expect(with(unnamed("SequenceAt", {"all", "one"}, {"y"})), "(2,)", {2, 4});
  expect(with(unnamed("SequenceAt", {"all", "back"}, {"y"})), "(2,)", {1, 2});
  expect(with(unnamed("SequenceLength", {"all"}, {"y"})), "()", {3});
  expect_no(with(unnamed("SequenceAt", {"all", "m"}, {"y"})),
            "place 3 is none of a sequence for which there are 3");
  expect_no(with(unnamed("Relu", {"all"}, {"y"})), "input 1 is a sequence; it takes a tensor");
  expect_no(with(unnamed("SequenceLength", {"w"}, {"y"})),
            "input 1 is a tensor; it takes a sequence");
  expect_no(with(unnamed("Identity", {"all"}, {"y"})), "its output 'y' is a sequence of tensors");
  Loops few = with(joined(0, 0));
  few.limits.max_in_sequences = 5;
  expect_no(few, "6 tensors in sequences; at most 5 are taken");  // 1 + 2 + 3
  expect_no(with(joined(1, 0)), "axis 1 is not one of a tensor of rank 1");
}

TEST(Loops, ThatDependOnWhatIsNotKnownAreRefused) {
  const auto body = [&](const Names& inputs, const std::vector<std::string>& constants) {
    return Loops{{loop(inputs, {"y"}, {"i", "d", "h"}, {kDouble}, {"d", "g"})}, constants};
  };
  expect_no(body({"w", "", "w"}, {}), "input 1 must be known before there are data");
  expect_no(body({"", "", "w"}, {}), "has no end");
  expect_no(body({"m", "", "w"}, {tensor("m", kInt64, {2}, int64s({1, 2}))}),
            "input 1 has 2 entries; it takes one");
  expect_no(body({"", "c", "w"}, {kTrue}), "its loops unrolled, more than 200000 steps");
  Loops few = body({"m", "", "w"}, {kThree});
  few.limits.max_steps = 6;
  expect_no(few, "more than 6 steps");
  few.limits.max_steps = 7;  // three rounds of one node, and the loop
  expect(few, "(2,)", {8, 16});
  // While the sum is less than 9.
  expect_no(
      {{loop({"", "c", "w"},
             {"y"},
             {"i", "d", "h"},
             {kDouble, unnamed("ReduceSum", {"g"}, {"s"}), unnamed("Less", {"s", "nine"}, {"e"})},
             {"e", "g"})},
       {kTrue, tensor("nine", kFloat, {}, floats({9}))}},
      "its condition depends on data, parameters, or the number of samples");
  // Once for each sample.
  Loops of_samples = body({"w", "", "one"}, {tensor("one", kFloat, {}, floats({1}))});
  of_samples.w_in_place.kind = ElementKind::kInteger;
  of_samples.w_in_place.integers =
      std::make_shared<const Integers>(Integers{.base = {0}, .per_sample = {1}});
  expect_no(of_samples, "depends on the number of samples in the batch");
}

TEST(Loops, ThatDoNotFitAreRefused) {
  expect_no({{loop({"m", "", "w"}, {"y"}, {"i", "d", "h"}, {}, {"d"})}, {kThree}},
            "its body has 3 inputs and 1 outputs");
  expect_no({{loop({"m"}, {"y"}, {"i"}, {}, {"i"})}, {kThree}}, "its body has 1 inputs");
  expect_no({{loop({"m", "", "w"}, {"", "y"}, {"i", "d", "h"}, {kDouble}, {"d", "g", "g"})},
             {scalar("m", kInt64, 0)}},
            "goes round not once, and its output 2 would be without entries");
  expect_no({{loop({"m", "", "w"}, {"y"}, {"i", "d", "h"}, {}, {"d", "nothing"})}, {kThree}},
            "its input 'nothing' is nowhere in the file");
  expect_no({{loop({"m", "", "w"}, {"y"}, {"i", "d", "h"}, {kDouble}, {"d", "y"})}, {kThree}},
            "made by a node that does not stand before it");
  expect_no({{loop({"m", "", "w"},
                   {"y"},
                   {"i", "d", "h"},
                   {unnamed("Bernoulli", {"h"}, {"g"})},
                   {"d", "g"})},
             {kThree}},
            "operators that are not known: Bernoulli");
  // What nothing needs may be anything.
  expect({{loop({"m", "", "w"},
                {"y"},
                {"i", "d", "h"},
                {unnamed("Bernoulli", {"h"}, {"f"}), kDouble},
                {"d", "g"})},
          {kThree}},
         "(2,)",
         {8, 16});
}

// States s and rows r of the table: s + r is passed on and stacked, together with s r.
Loops scan(const std::vector<std::string>& attributes, const std::string& table) {
  std::vector<std::string> all = attributes;
  all.push_back(int_attribute("num_scan_inputs", 1));
  all.push_back(subgraph("body",
                         {"s", "r"},
                         {unnamed("Add", {"s", "r"}, {"t"}), unnamed("Mul", {"s", "r"}, {"p"})},
                         {"t", "p"}));
  return {{unnamed("Scan", {"w", "table"}, {"z", "q"}, all),
           unnamed("Unsqueeze", {"z", "zero"}, {"row"}),
           unnamed("Concat", {"row", "q"}, {"y"}, {int_attribute("axis", 0)})},
          {table, tensor("zero", kInt64, {1}, int64s({0}))}};
}

TEST(Scans, GoAlongAnAxisEitherWay) {
  const std::string rows = tensor("table", kFloat, {3, 2}, floats({1, 2, 3, 4, 5, 6}));
  const std::string columns = tensor("table", kFloat, {2, 3}, floats({1, 3, 5, 2, 4, 6}));
  const Numbers onwards = {10, 14, 1, 4, 6, 16, 25, 48};
  expect(scan({}, rows), "(4, 2)", onwards);
  expect(scan({integers("scan_input_axes", {1})}, columns), "(4, 2)", onwards);
  expect(scan({integers("scan_input_axes", {-1})}, columns), "(4, 2)", onwards);
  expect(scan({integers("scan_input_directions", {1})}, rows),
         "(4, 2)",
         {10, 14, 5, 12, 18, 32, 9, 24});
  expect(scan({integers("scan_output_directions", {1})}, rows),
         "(4, 2)",
         {10, 14, 25, 48, 6, 16, 1, 4});
}

TEST(Scans, ThatDoNotFitAreRefused) {
  const std::string rows = tensor("table", kFloat, {3, 2}, floats({1, 2, 3, 4, 5, 6}));
  expect_no(scan({integers("scan_input_axes", {2})}, rows), "axis 2 is not one of a tensor");
  expect_no(scan({integers("scan_input_axes", {0, 1})}, rows),
            "attribute 'scan_input_axes' has 2 entries for 1");
  expect_no({{unnamed("Scan", {"w"}, {"y"}, {subgraph("body", {"s"}, {}, {"s"})})}},
            "goes through 0 of its 1 inputs");
}

}  // namespace
}  // namespace hesscope::test::onnx
