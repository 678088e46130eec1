// SPDX-License-Identifier: BSD-3-Clause
//
// RotaryEmbedding against a loop over pairs.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using onnx::ElementKind;
using onnx::text;
using test::expect_computes;
using test::expect_refused;
using test::OperatorFixture;

// x is (samples, heads, length, size), or with heads_last (samples, length, heads, size); angles
// are (angle_samples, length, rotated / 2).
struct Turn {
  int samples = 1;
  int heads = 1;
  int length = 1;
  int size = 2;
  int rotated = 2;
  int angle_samples = 1;
  bool interleaved = false;
  bool heads_last = false;

  int row(int b, int h, int i) const {
    return heads_last ? (b * length + i) * heads + h : (b * heads + h) * length + i;
  }
};

template <typename T, typename X, typename C, typename S>
std::vector<T> rotated(const Turn& g, const X& x, const C& cosine, const S& sine) {
  std::vector<T> y;
  for (int e = 0; e < g.samples * g.heads * g.length * g.size; ++e) y.push_back(T(x(e)));
  for (int b = 0; b < g.samples; ++b)
    for (int h = 0; h < g.heads; ++h)
      for (int i = 0; i < g.length; ++i)
        for (int k = 0; k < g.rotated / 2; ++k) {
          const int first = g.row(b, h, i) * g.size + (g.interleaved ? 2 * k : k);
          const int second = first + (g.interleaved ? 1 : g.rotated / 2);
          const int angle = (b % g.angle_samples * g.length + i) * (g.rotated / 2) + k;
          const T u = T(x(first));
          const T v = T(x(second));
          y[static_cast<std::size_t>(first)] = T(cosine(angle)) * u - T(sine(angle)) * v;
          y[static_cast<std::size_t>(second)] = T(sine(angle)) * u + T(cosine(angle)) * v;
        }
  return y;
}

// x, cosines and sines are the parameters, in this order.
auto of_parameters(const Turn& g) {
  return [g](const auto& theta, const double*) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    const int size = g.samples * g.heads * g.length * g.size;
    const int angles = g.angle_samples * g.length * g.rotated / 2;
    return rotated<T>(
        g,
        [&](int e) { return theta(e); },
        [&](int e) { return theta(size + e); },
        [&](int e) { return theta(size + angles + e); });
  };
}

std::vector<double> wave(int count, double step) {
  std::vector<double> entries;
  for (int e = 0; e < count; ++e) entries.push_back(std::sin(step * e));
  return entries;
}

TEST(RotaryEmbedding, RotatesHalvesAndNeighbours) {
  for (const bool interleaved : {false, true}) {
    const Turn g{.samples = 2,
                 .length = 2,
                 .size = 6,
                 .rotated = 4,
                 .angle_samples = 2,
                 .interleaved = interleaved};
    OperatorFixture op("RotaryEmbedding", 23);
    op.with("interleaved", interleaved ? 1 : 0).with("rotary_embedding_dim", 4);
    op.parameter({2, 1, 2, 6}).parameter({2, 2, 2}).parameter({2, 2, 2});
    const onnx::Value y = op.result();
    EXPECT_EQ(text(y.axes), "(2, 1, 2, 6)");
    expect_computes(op, y, of_parameters(g));
  }
}

TEST(RotaryEmbedding, TakesHeadsOneBehindTheOther) {
  const Turn g{.samples = 2, .heads = 3, .length = 2, .heads_last = true};
  OperatorFixture op("RotaryEmbedding", 23);
  op.with("num_heads", 3).parameter({2, 2, 6}).parameter({1, 2, 1}).parameter({1, 2, 1});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(2, 2, 6)");
  expect_computes(op, y, of_parameters(g));
}

TEST(RotaryEmbedding, LooksAnglesUpAtPositions) {
  const std::vector<double> cosines = {0.5, 2, -1, 4};
  const std::vector<double> sines = {3, -0.5, 0.25, 1};
  OperatorFixture op("RotaryEmbedding", 23);
  op.data({1, 2, 2}).numbers({4, 1}, cosines).numbers({4, 1}, sines).integers({1, 2}, {2, -1});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 1, 2, 2)");
  expect_computes(op, y, [&](const auto& theta, const double* x) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    const auto row = [](int e) { return static_cast<std::size_t>(2 + e); };
    return rotated<T>(
        {.length = 2},
        [&](int e) { return x[e]; },
        [&](int e) { return cosines[row(e)]; },
        [&](int e) { return sines[row(e)]; });
  });
}

// Each sample has its own positions; here by the sign of a number.
TEST(RotaryEmbedding, TakesPositionsFromData) {
  OperatorFixture op("RotaryEmbedding", 23);
  op.data({2, 1, 2}).parameter({2, 1}).parameter({2, 1});
  const Var zero = op.graph().constant(Eigen::MatrixXd::Zero(1, 1));
  const Var place = less(op.graph().input(4, 1, 1), zero);
  op.value({.kind = ElementKind::kInteger, .axes = {onnx::kBatchAxis, {.size = 1}}, .var = place});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 2, 1, 2)");
  expect_computes(op, y, [](const auto& theta, const double* x) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    const int row = x[4] < 0 ? 1 : 0;
    return rotated<T>(
        {.heads = 2},
        [&](int e) { return x[e]; },
        [&](int) { return theta(row); },
        [&](int) { return theta(2 + row); });
  });
}

// x cos + (-x_2, x_1) sin in PyTorch, as LLaMA has it.
TEST(RotaryEmbedding, AgreesWithPyTorch) {
  std::vector<double> cosines;
  std::vector<double> sines;
  for (int i = 0; i < 3; ++i) {
    for (const double frequency : {1.0, 0.01}) {
      cosines.push_back(std::cos(i * frequency));
      sines.push_back(std::sin(i * frequency));
    }
  }
  OperatorFixture op("RotaryEmbedding", 23);
  op.numbers({1, 2, 3, 4}, wave(24, 0.5)).numbers({1, 3, 2}, cosines).numbers({1, 3, 2}, sines);
  const onnx::Value y = op.result();
  const std::vector<double> expected = {0,
                                        0.47942553860420301,
                                        0.8414709848078965,
                                        0.99749498660405445,
                                        0.37254710427564719,
                                        0.60194999455943099,
                                        0.84139486699316934,
                                        -0.34478106697821365,
                                        1.186888339785253,
                                        -0.96322475234855653,
                                        -0.28910525820942606,
                                        -0.72494852121469622,
                                        -0.27941549819892586,
                                        0.21511998808781552,
                                        0.65698659871878906,
                                        0.9379999767747389,
                                        0.18776679434635341,
                                        0.79919868728005494,
                                        1.0551848259809968,
                                        -0.067162624891384207,
                                        1.13568118597891,
                                        -0.86201195043668843,
                                        -0.078534235236354,
                                        -0.89286983238497264};
  const auto got = op.graph().constant_value(*y.var);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t e = 0; e < got.size(); ++e) EXPECT_NEAR(got[e], expected[e], 1e-14) << e;
}

TEST(RotaryEmbedding, SaysWhatDoesNotFit) {
  const auto refused = [](auto prepare, const std::string& why) {
    OperatorFixture op("RotaryEmbedding", 23);
    op.data({2, 3, 4});
    prepare(op);
    expect_refused(op, why);
  };
  const auto angles = [](OperatorFixture& op, const OperatorFixture::Shape& shape, int size) {
    op.numbers(shape, wave(size, 1)).numbers(shape, wave(size, 1));
  };
  const auto refused_with = [&](const char* attribute, int value, const std::string& why) {
    refused(
        [&](auto& op) {
          op.with(attribute, value);
          angles(op, {1, 3, 2}, 6);
        },
        why);
  };
  refused_with("rotary_embedding_dim",
               3,
               "rotates pairs among the 4 entries of a head: 3 are not among them, or not even");
  refused_with("rotary_embedding_dim", 6, "6 are not among them");
  refused_with("rotary_embedding_dim", -2, "-2 are not among them");
  refused_with("rotary_embedding_dim",
               2,
               "angles (1, 3, 2) do not fit (N, length, pairs) of 3 places with 1 pairs");
  refused_with("num_heads", 3, "num_heads is 3, but a tensor (N, 2, 3, 4) has 2");
  refused(
      [&](auto& op) {
        angles(op, {1, 3, 2}, 6);
        op.integers({1, 3}, {0, 1, 2});
      },
      "takes angles (places, pairs) at positions (N, length), got (1, 3, 2) and (1, 3)");
  refused(
      [&](auto& op) {
        angles(op, {2, 2}, 4);
        op.integers({1, 3}, {0, 1, 2});
      },
      "index 2 is not one of 2 entries");
  refused([&](auto& op) { angles(op, {3, 2}, 6); }, "angles (3, 2) do not fit");
  OperatorFixture heads("RotaryEmbedding", 23);
  heads.data({3, 4});
  angles(heads, {1, 3, 2}, 6);
  expect_refused(heads, "num_heads 0 does not part the last axis of (N, 3, 4)");
}

TEST(RotaryEmbedding, DoesNotLetSamplesMeet) {
  OperatorFixture angles("RotaryEmbedding", 23);
  angles.data({1, 1, 2}).parameter({2, 1, 1}).parameter({2, 1, 1});
  expect_refused(angles, "samples meet other things than themselves");
  OperatorFixture batch("RotaryEmbedding", 23);
  batch.data_with_axes({{.size = 2}, {.size = 1}, onnx::kBatchAxis, {.size = 2}});
  batch.parameter({1, 1, 1}).parameter({1, 1, 1});
  expect_refused(batch, "attends along axis 2 of (2, 1, N, 2), the batch (N)");
  OperatorFixture more("RotaryEmbedding", 23);
  more.parameter({1, 1, 2, 2}).data({2, 1}).data({2, 1});
  expect_refused(more, "angles (N, 2, 1) are more than a tensor (1, 1, 2, 2)");
}

}  // namespace
}  // namespace hesscope
