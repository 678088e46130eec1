// SPDX-License-Identifier: BSD-3-Clause
//
// Attention against loops over samples, heads, queries and keys.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/core/constants.h>

#include "import/attention_oracle.h"
#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using onnx::ElementKind;
using onnx::text;
using test::attended;
using test::causal;
using test::expect_computes;
using test::expect_refused;
using test::Heads;
using test::of_data;
using test::of_parameters;
using test::OperatorFixture;

std::vector<double> constants_of(OperatorFixture& op, const onnx::Value& value) {
  const auto entries = op.graph().constant_value(*value.var);
  return {entries.begin(), entries.end()};
}

std::vector<double> wave(int count, double step, double shift) {
  std::vector<double> entries;
  for (int e = 0; e < count; ++e) entries.push_back(std::sin(step * e + shift));
  return entries;
}

void expect_entries(OperatorFixture& op, const std::vector<double>& expected) {
  const std::vector<double> got = constants_of(op, op.result());
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t e = 0; e < got.size(); ++e) EXPECT_NEAR(got[e], expected[e], 1e-14) << e;
}

TEST(Attention, OfQueriesFromDataToKeysAndValuesOfAllSamples) {
  const Heads g{.query_heads = 2,
                .key_heads = 2,
                .queries = 3,
                .keys = 2,
                .size = 4,
                .value_size = 1,
                .scale = 0.5};
  OperatorFixture op("Attention", 23);
  op.data({2, 3, 4}).parameter({1, 2, 2, 4}).parameter({1, 2, 2, 1});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 2, 3, 1)");
  expect_computes(op, y, of_data(g));
}

TEST(Attention, SharesHeadsOfKeysAmongThoseOfQueries) {
  const Heads g{.samples = 2,
                .query_heads = 4,
                .key_heads = 2,
                .queries = 1,
                .keys = 2,
                .size = 1,
                .value_size = 2,
                .scale = 0.75};
  OperatorFixture op("Attention", 23);
  op.with("scale", 0.75).parameter({2, 4, 1, 1}).parameter({2, 2, 2, 1}).parameter({2, 2, 2, 2});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(2, 4, 1, 2)");
  expect_computes(op, y, of_parameters(g));
}

TEST(Attention, TakesHeadsOneBehindTheOther) {
  const Heads g{.query_heads = 4,
                .key_heads = 2,
                .queries = 2,
                .keys = 3,
                .size = 1,
                .value_size = 2,
                .heads_last = true};
  OperatorFixture op("Attention", 23);
  op.with("q_num_heads", 4).with("kv_num_heads", 2);
  op.data({2, 4}).parameter({1, 3, 2}).parameter({1, 3, 4});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 2, 8)");
  expect_computes(op, y, of_data(g));
}

TEST(Attention, CapsScoresBeforeItsMask) {
  const Heads g{.queries = 2, .keys = 3, .size = 2, .value_size = 2, .scale = 2, .softcap = 0.5};
  OperatorFixture op("Attention", 23);
  op.with("scale", 2.0).with("softcap", 0.5).parameter({1, 1, 2, 2}).parameter({1, 1, 3, 2});
  op.parameter({1, 1, 3, 2}).parameter({2, 3});
  expect_computes(op, op.result(), of_parameters(g, true));
}

TEST(Attention, LeavesOutWhatComesLater) {
  const Heads g{.query_heads = 2, .key_heads = 1, .queries = 3, .keys = 3};
  OperatorFixture op("Attention", 23);
  op.with("is_causal", 1).with("q_num_heads", 0).parameter({1, 2, 3, 1});
  op.parameter({1, 1, 3, 1}).parameter({1, 1, 3, 1});
  expect_computes(op, op.result(), [&](const auto& theta, const double*) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return attended<T>(
        g,
        [&](int e) { return theta(e); },
        [&](int e) { return theta(6 + e); },
        [&](int e) { return theta(9 + e); },
        [](int, int, int i, int j) { return causal<T>(i, j); });
  });
}

// Their scores are -inf as the graph alone says, which the Hessian does not compute with.
TEST(Attention, IsTwoProductsWithTheMaskAsAConstant) {
  OperatorFixture op("Attention", 23);
  op.with("is_causal", 1).data({2, 2, 3}).parameter({1, 2, 2, 3}).parameter({1, 2, 2, 3});
  op.result();
  int products = 0;
  int moved = 0;
  for (const Graph::Node& node : op.graph().nodes()) {
    products += node.op == Graph::Op::kMatmul ? 1 : 0;
    moved += node.op == Graph::Op::kGather ? 1 : 0;
  }
  EXPECT_EQ(products, 2);
  EXPECT_EQ(moved, 0);
  const auto constants = op.graph().constants();
  EXPECT_EQ(std::vector<double>(constants.begin(), constants.end()),
            (std::vector<double>{0, -kInfinity, 0, 0}));
}

TEST(Attention, OfThePastSeesAllThatIsBeforeAQuery) {
  const Heads g{.queries = 2, .keys = 4, .size = 1};
  OperatorFixture op("Attention", 23);
  op.with("is_causal", 1).data({1, 2, 1}).data({1, 2, 1}).data({1, 2, 1}).left_out();
  op.data({1, 2, 1}).data({1, 2, 1}).outputs({"y", "keys", "values"});
  const onnx::Values results = op.results();
  EXPECT_EQ(text(results[0].axes), "(N, 1, 2, 1)");
  EXPECT_EQ(text(results[1].axes), "(N, 1, 4, 1)");
  EXPECT_EQ(text(results[2].axes), "(N, 1, 4, 1)");
  expect_computes(op, results[0], [&](const auto& theta, const double* x) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return attended<T>(
        g,
        [&](int e) { return x[e]; },
        [&](int e) { return x[e < 2 ? 6 + e : e]; },
        [&](int e) { return x[e < 2 ? 8 + e : 2 + e]; },
        [](int, int, int i, int j) { return causal<T>(i, j, 2); });
  });
}

TEST(Attention, GivesKeysAndValuesOfPastAndPresent) {
  OperatorFixture op("Attention", 23);
  op.with("q_num_heads", 2).with("kv_num_heads", 2).outputs({"y", "keys", "values"});
  op.numbers({1, 1, 2}, {1, 1}).numbers({1, 2, 2}, {1, 2, 3, 4}).numbers({1, 2, 2}, {5, 6, 7, 8});
  op.left_out().numbers({1, 2, 1, 1}, {-1, -2}).numbers({1, 2, 1, 1}, {-3, -4});
  const onnx::Values results = op.results();
  EXPECT_EQ(constants_of(op, results[1]), (std::vector<double>{-1, 1, 3, -2, 2, 4}));
  EXPECT_EQ(constants_of(op, results[2]), (std::vector<double>{-3, 5, 7, -4, 6, 8}));
}

// As models have it that are exported for their first step.
TEST(Attention, OfAnEmptyPastIsThatOfThePresent) {
  const auto empty = [] {
    return onnx::Value{.axes = onnx::plain_axes({1, 1, 0, 1}),
                       .integers = std::make_shared<const onnx::Integers>()};
  };
  OperatorFixture op("Attention", 23);
  op.numbers({1, 1, 1, 1}, {1}).numbers({1, 1, 1, 1}, {1}).numbers({1, 1, 1, 1}, {3}).left_out();
  op.value(empty()).value(empty());
  expect_entries(op, {3});
}

TEST(Attention, TakesTruthValuesAsAMask) {
  const Heads g{.query_heads = 2, .key_heads = 2, .queries = 2, .keys = 3};
  const std::vector<std::int64_t> holds = {1, 0, 1, 0, 1, 1};
  OperatorFixture op("Attention", 23);
  op.parameter({1, 2, 2, 1}).parameter({1, 2, 3, 1}).parameter({1, 2, 3, 1});
  op.value({.kind = ElementKind::kBoolean,
            .axes = onnx::plain_axes({2, 3}),
            .integers = std::make_shared<const onnx::Integers>(onnx::Integers{.base = holds})});
  expect_computes(op, op.result(), [&](const auto& theta, const double*) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return attended<T>(
        g,
        [&](int e) { return theta(e); },
        [&](int e) { return theta(4 + e); },
        [&](int e) { return theta(10 + e); },
        [&](int, int, int i, int j) {
          return T(holds[static_cast<std::size_t>(3 * i + j)] == 0 ? -kInfinity : 0.0);
        });
  });
}

// Each sample has its own mask, as for padding words, in addition to the causal one.
TEST(Attention, TakesTruthValuesFromDataBesideWhatIsCausal) {
  const Heads g{.query_heads = 2, .key_heads = 2, .queries = 3, .keys = 3};
  OperatorFixture op("Attention", 23);
  op.with("is_causal", 1).parameter({1, 2, 3, 1}).parameter({1, 2, 3, 1}).parameter({1, 2, 3, 1});
  const Var bounds = op.graph().constant(Eigen::Vector3d(1e9, 0, 0));
  const Var holds = less(op.graph().input(0, 3, 1), bounds);
  onnx::Axes axes = onnx::plain_axes({1, 1, 3});
  axes.insert(axes.begin(), onnx::kBatchAxis);
  op.value({.kind = ElementKind::kBoolean, .axes = axes, .var = holds});
  expect_refused(op, "its mask (N, 1, 1, 3) is more than its scores (1, 2, 3, 3)");

  OperatorFixture of_data("Attention", 23);
  of_data.with("is_causal", 1).data({2, 3, 1}).parameter({1, 2, 3, 1}).parameter({1, 2, 3, 1});
  const Var limits = of_data.graph().constant(Eigen::Vector3d(1e9, 0, 0));
  const Var taken = less(of_data.graph().input(6, 3, 1), limits);
  of_data.value({.kind = ElementKind::kBoolean, .axes = axes, .var = taken});
  expect_computes(of_data, of_data.result(), [&](const auto& theta, const double* x) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return attended<T>(
        g,
        [&](int e) { return x[e]; },
        [&](int e) { return theta(e); },
        [&](int e) { return theta(6 + e); },
        [&](int, int, int i, int j) {
          return j > 0 && x[6 + j] >= 0 ? T(-kInfinity) : causal<T>(i, j);
        });
  });
}

TEST(Attention, GivesScoresAndWeights) {
  const auto results_in_mode = [](OperatorFixture& op, int mode) {
    op.with("qk_matmul_output_mode", mode).with("softcap", 1.0).with("scale", 0.5);
    op.outputs({"y", "", "", "scores"}).numbers({1, 1, 1, 1}, {2}).numbers({1, 1, 2, 1}, {1, 3});
    op.numbers({1, 1, 2, 1}, {1, 0}).numbers({2}, {0, -kInfinity});
    return op.results();
  };
  OperatorFixture scores("Attention", 23);
  EXPECT_EQ(constants_of(scores, results_in_mode(scores, 0).at(3)), (std::vector<double>{1, 3}));
  OperatorFixture weights("Attention", 23);
  EXPECT_EQ(constants_of(weights, results_in_mode(weights, 3).at(3)), (std::vector<double>{1, 0}));
  for (const int mode : {1, 2}) {
    OperatorFixture other("Attention", 23);
    EXPECT_EQ(results_in_mode(other, mode).size(), 3U);
  }
  OperatorFixture unknown("Attention", 23);
  test::expect_refusal<InputError>([&] { results_in_mode(unknown, 4); },
                                   "qk_matmul_output_mode 4 is not from 0 to 3");
}

TEST(Attention, IsNoNumberWhereAMaskLeavesOutAll) {
  OperatorFixture op("Attention", 23);
  op.numbers({1, 1, 2, 1}, {1, 1}).numbers({1, 1, 1, 1}, {1}).numbers({1, 1, 1, 1}, {3});
  op.numbers({2, 1}, {-kInfinity, 0});
  const std::vector<double> y = constants_of(op, op.result());
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 3);
}

// softmax(Q K^T / sqrt(2) + mask) V in PyTorch, of keys and values by repeat_interleave().
TEST(Attention, AgreesWithPyTorch) {
  OperatorFixture op("Attention", 23);
  op.with("is_causal", 1).numbers({1, 4, 3, 2}, wave(24, 0.5, 0));
  op.numbers({1, 2, 3, 2}, wave(12, 0.3, 1)).numbers({1, 2, 3, 2}, wave(12, 0.7, 2));
  expect_entries(
      op,
      {0.90929742682568171,   0.42737988023382978,  0.30304145523303272,   -0.22093915354214616,
       -0.070521999452092476, -0.3620781976216555,  0.90929742682568171,   0.42737988023382978,
       0.3480333709827913,    -0.17282562276737179, -0.1737792732482786,   -0.37653879550859848,
       -0.083089402817497285, 0.57843976438819944,  0.27660566644091006,   0.68923312659513913,
       0.281351597736546,     0.53528526639088825,  -0.083089402817497285, 0.57843976438819944,
       0.59130894013944324,   0.7861681050547481,   0.51197166734265553,   0.20704348756704558});
}

TEST(Attention, SaysWhatDoesNotFit) {
  const auto refused = [](auto prepare, const std::string& why) {
    OperatorFixture op("Attention", 23);
    op.data({4, 3, 2}).data({2, 3, 2}).data({2, 3, 2});
    prepare(op);
    expect_refused(op, why);
  };
  refused([](auto& op) { op.with("q_num_heads", 3); },
          "q_num_heads is 3, but a tensor (N, 4, 3, 2) has 4");
  refused([](auto& op) { op.with("scale", -1.0); }, "scale -1 is no number from 0 on");
  refused([](auto& op) { op.with("softcap", -1.0); }, "softcap -1 is no number from 0 on");
  refused([](auto& op) { op.numbers({3, 2}, wave(6, 1, 0)); }, "shapes (N, 4, 3, 3) and (3, 2)");
  refused(
      [](auto& op) {
        op.integers({3, 3}, std::vector<std::int64_t>(9));
      },
      "its mask has integers");
  refused(
      [](auto& op) {
        op.left_out().data({2, 1, 2});
      },
      "needs both past_key and past_value, or none of them");
  refused(
      [](auto& op) {
        op.left_out().data({2, 1, 3}).data({2, 1, 2});
      },
      "shapes (N, 2, 1, 3) and (N, 2, 3, 2) do not fit along axis 2");
  refused([](auto& op) { op.left_out().left_out().left_out().integers({1}, {3}); },
          "nonpad_kv_seqlen");

  const auto shapes = [](const std::vector<std::vector<std::int64_t>>& all) {
    OperatorFixture op("Attention", 23);
    op.with("q_num_heads", 0);
    for (const auto& shape : all) op.parameter(shape);
    expect_refused(op, "do not fit as (N, heads, length, size)");
  };
  shapes({{1, 3, 2, 2}, {1, 2, 2, 2}, {1, 2, 2, 2}});
  shapes({{1, 2, 2, 2}, {1, 2, 2, 2}, {1, 1, 2, 2}});
  shapes({{1, 2, 2, 2}, {1, 2, 2, 2}, {1, 2, 3, 2}});
  shapes({{1, 2, 2, 2}, {1, 2, 2, 3}, {1, 2, 2, 2}});

  OperatorFixture rank("Attention", 23);
  rank.data({2}).data({2}).data({2});
  expect_refused(rank, "input 1 is (N, 2); it takes (N, heads, length, size)");
  OperatorFixture ranks("Attention", 23);
  ranks.data({1, 2, 2}).data({2, 2}).data({2, 2});
  expect_refused(ranks, "input 2 is (N, 2, 2), but its queries are (N, 1, 2, 2)");
  OperatorFixture heads("Attention", 23);
  heads.with("q_num_heads", 2).with("kv_num_heads", 3);
  heads.data({2, 4}).data({2, 4}).data({2, 4});
  expect_refused(heads, "kv_num_heads 3 does not part the last axis of (N, 2, 4)");
  OperatorFixture without("Attention", 23);
  without.data({2, 4}).data({2, 4}).data({2, 4});
  expect_refused(without, "q_num_heads 0 does not part the last axis");
}

TEST(Attention, DoesNotLetSamplesMeet) {
  OperatorFixture keys("Attention", 23);
  keys.parameter({1, 1, 2, 2});
  keys.data_with_axes({{.size = 1}, {.size = 1}, onnx::kBatchAxis, {.size = 2}});
  keys.parameter({1, 1, 1, 2});
  expect_refused(keys, "attends along axis 2 of (1, 1, N, 2), the batch (N)");
  OperatorFixture length("Attention", 23);
  length.with("q_num_heads", 1).with("kv_num_heads", 1);
  length.data_with_axes({{.size = 2}, onnx::kBatchAxis, {.size = 2}}).data({2, 2}).data({2, 2});
  expect_refused(length, "attends along axis 1 of (2, N, 2), the batch (N)");
  OperatorFixture samples("Attention", 23);
  samples.data({1, 2, 2}).parameter({2, 1, 2, 2}).parameter({2, 1, 2, 2});
  expect_refused(samples, "samples meet other things than themselves");
}

}  // namespace
}  // namespace hesscope
