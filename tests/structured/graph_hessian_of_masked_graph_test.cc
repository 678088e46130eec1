// SPDX-License-Identifier: BSD-3-Clause
//
// Graphs of which entries are known to be zero or not to be taken: causal attention in the forms in
// which it is written, losses of one token, weights and activations that are left out.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>

#include "graph_hessian_case.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using test::squared_norm;

constexpr Index kTokens = 5;
constexpr Index kWidth = 4;

MatrixXd later_tokens() {
  MatrixXd later = MatrixXd::Zero(kTokens, kTokens);
  for (Index t = 0; t < kTokens; ++t) later.row(t).tail(kTokens - 1 - t).setOnes();
  return later;
}

// Masks scores of later tokens, one head's or those of two heads below each other.
Var masked_by_choice(Graph& g, Var scores) {
  const MatrixXd later = later_tokens().replicate(scores.rows() / kTokens, 1);
  const Var minus = g.constant(MatrixXd::Constant(scores.rows(), kTokens, -kInfinity));
  return select(g.constant(later), minus, scores);
}

Var masked_by_sum(Graph& g, Var scores) {
  MatrixXd mask = MatrixXd::Zero(kTokens, kTokens);
  for (Index i = 0; i < mask.size(); ++i) {
    if (later_tokens()(i) > 0) mask(i) = -kInfinity;
  }
  return 0.7 * scores + g.constant(mask);
}

// softmax spelt out.
Var attention_by_functions(Var scores) {
  const Var p = exp(scores);
  return p / sum_rows(p);
}

std::vector<std::int32_t> gathered(Index count, const std::function<Index(Index)>& from) {
  std::vector<std::int32_t> indices;
  for (Index e = 0; e < count; ++e) indices.push_back(static_cast<std::int32_t>(from(e)));
  return indices;
}

// Queries, keys and values are columns of one product; keys are transposed by moving entries.
Var keys_moved(Graph& g, Var x) {
  const Var all = matmul(x, g.parameter(0, kWidth, 3 * kWidth)) + g.parameter(48, 1, 3 * kWidth);
  const auto column = [](Index t, Index c) { return t * 3 * kWidth + c; };
  const Index size = kTokens * kWidth;
  const Var q = gather(all,
                       gathered(size, [&](Index e) { return column(e / kWidth, e % kWidth); }),
                       kTokens,
                       kWidth);
  const Var keys =
      gather(all,
             gathered(size, [&](Index e) { return column(e % kTokens, kWidth + e / kTokens); }),
             kWidth,
             kTokens);
  const Var v = slice(all, 0, 2 * kWidth, kTokens, kWidth);
  return matmul(softmax_rows(masked_by_choice(g, matmul(q, keys))), v);
}

// Two heads as products of a stack.
Var two_heads(Graph& g, Var x) {
  const Index half = kWidth / 2;
  const Var all = matmul(x, g.parameter(0, kWidth, 3 * kWidth));
  const auto heads = [&](Index part) {  // (2 tokens) x half
    return gather(all,
                  gathered(kTokens * kWidth,
                           [&](Index e) {
                             const Index head = e / (kTokens * half);
                             const Index t = e / half % kTokens;
                             return t * 3 * kWidth + part * kWidth + head * half + e % half;
                           }),
                  2 * kTokens,
                  half);
  };
  const Var scores = stacked_matmul(heads(0), heads(1), {.stack = 2, .transpose_b = true});
  const Var p = softmax_rows(masked_by_choice(g, scores));
  const Var y = stacked_matmul(p, heads(2), {.stack = 2});
  return reshape(y, kTokens, kWidth);
}

struct MaskCase {
  std::string name;
  std::function<Var(Graph&, Var)> attention;  // parameters from 0 to 60
};

void PrintTo(const MaskCase& mask, std::ostream* out) { *out << mask.name; }

Var with_projections(Graph& g, Var x, const std::function<Var(Graph&, Var)>& weights) {
  const Var q = matmul(x, g.parameter(0, kWidth, kWidth));
  const Var k = matmul(x, g.parameter(16, kWidth, kWidth));
  const Var v = matmul(x, g.parameter(32, kWidth, kWidth));
  return matmul(weights(g, matmul_nt(q, k)), v);
}

// Behind an embedding and in front of a layer with gains; the loss of all tokens, or of the last
// alone.
std::shared_ptr<const Graph> transformer(const MaskCase& mask, bool is_of_last) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Var x = tanh(matmul(g.input(0, kTokens, 3), g.parameter(60, 3, kWidth)));
  const Var h = x + mask.attention(g, x);
  const Var y = matmul(hadamard(tanh(h), g.parameter(72, 1, kWidth)), g.parameter(76, kWidth, 3));
  g.set_output(sum(log_sum_exp_rows(is_of_last ? slice(y, kTokens - 1, 0, 1, 3) : y)));
  return graph;
}

class GraphHessianWithMask : public testing::TestWithParam<MaskCase> {};

TEST_P(GraphHessianWithMask, EqualsThePlainTape) {
  for (const bool is_of_last : {false, true}) {
    SCOPED_TRACE(is_of_last ? "last token" : "all tokens");
    test::expect_equals_the_plain_tape(transformer(GetParam(), is_of_last));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Masks,
    GraphHessianWithMask,
    testing::Values(MaskCase{"Choice",
                             [](Graph& g, Var x) {
                               return with_projections(g, x, [](Graph& of, Var scores) {
                                 return softmax_rows(masked_by_choice(of, scores));
                               });
                             }},
                    MaskCase{"Sum",
                             [](Graph& g, Var x) {
                               return with_projections(g, x, [](Graph& of, Var scores) {
                                 return softmax_rows(masked_by_sum(of, scores));
                               });
                             }},
                    MaskCase{"Functions",
                             [](Graph& g, Var x) {
                               return with_projections(g, x, [](Graph& of, Var scores) {
                                 return attention_by_functions(masked_by_sum(of, scores));
                               });
                             }},
                    MaskCase{"Zeros",  // of linear attention
                             [](Graph& g, Var x) {
                               return with_projections(g, x, [](Graph& of, Var scores) {
                                 const MatrixXd earlier = 1 - later_tokens().array();
                                 return hadamard(scores, of.constant(earlier));
                               });
                             }},
                    MaskCase{"KeysMoved", keys_moved},
                    MaskCase{"TwoHeads", two_heads}),
    [](const auto& of_test) { return of_test.param.name; });

// Weights and hidden units that are left out, and rows of zeros around a matrix.
TEST(GraphHessianOfMaskedGraph, EqualsThePlainTapeWithZerosInProducts) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Var padded = embed(matmul(g.input(0, 3, 4), g.parameter(0, 4, 4)), 1, 0, 5, 4);
  const MatrixXd pattern =
      (MatrixXd(4, 4) << 1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1).finished();
  const Var weights = hadamard(tanh(g.parameter(16, 4, 4)), g.constant(pattern));
  const Var mixed = matmul_tn(padded, exp(0.3 * matmul(padded, weights)));
  g.set_output(squared_norm(mixed) + log_sum_exp(matmul(tanh(padded), g.parameter(32, 4, 2))));
  test::expect_equals_the_plain_tape(graph);
}

// Half of all pairs of tokens are visible.
TEST(GraphHessianOfMaskedGraph, SweepsThroughTokensThatAreSeenAlone) {
  const auto plan_with = [](Var (*masked)(Graph&, Var)) {
    auto graph = std::make_shared<Graph>();
    Graph& g = *graph;
    const Index width = 16;  // a weight has far more entries than its product
    const Index size = width * width;
    const auto weight = [&](Index k) { return g.parameter(k * size, width, width); };
    const Var x = tanh(matmul(g.input(0, kTokens, width), weight(0)));
    const Var scores = masked(g, matmul_nt(matmul(x, weight(1)), matmul(x, weight(2))));
    const Var y = matmul(softmax_rows(scores), matmul(x, weight(3)));
    g.set_output(sum(log_sum_exp_rows(matmul(tanh(y), weight(4)))));
    return graph_hessian(graph)->plan();
  };
  const HessianPlan seen = plan_with(masked_by_choice);
  const HessianPlan all = plan_with([](Graph&, Var scores) { return scores; });
  EXPECT_EQ(seen.directions, all.directions);
  EXPECT_TRUE(seen.sweep_multiply_adds < 0.8 * all.sweep_multiply_adds);
  EXPECT_TRUE(seen.product_multiply_adds < all.product_multiply_adds);
  EXPECT_TRUE(plan_with(masked_by_sum).sweep_multiply_adds == seen.sweep_multiply_adds);
}

}  // namespace
}  // namespace hesscope
