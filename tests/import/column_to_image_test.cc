// SPDX-License-Identifier: BSD-3-Clause
//
// Col2Im against loops over channels, entries of windows and places.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using onnx::text;
using test::expect_computes;
using test::expect_refused;
using test::OperatorFixture;
using Ints = std::vector<std::int64_t>;

// Over images of two axes; with one, the other has length 1.
struct Windows {
  std::int64_t samples = 1;
  std::int64_t channels = 1;
  std::array<std::int64_t, 2> length = {1, 1};
  std::array<std::int64_t, 2> kernel = {1, 1};
  std::array<std::int64_t, 2> stride = {1, 1};
  std::array<std::int64_t, 2> dilation = {1, 1};
  std::array<std::int64_t, 2> pad = {0, 0};  // in front
  std::array<std::int64_t, 2> places = {1, 1};
};

// y[b, c, p s - pad + k d, ...] += x[b, (c, k, l), (p, q)], over an image of `length`.
template <typename T, typename X>
std::vector<T> folded(const Windows& g, const X& x) {
  std::vector<T> y(static_cast<std::size_t>(g.samples * g.channels * g.length[0] * g.length[1]),
                   T(0.0));
  std::int64_t e = 0;
  for (std::int64_t plane = 0; plane < g.samples * g.channels; ++plane)
    for (std::int64_t k = 0; k < g.kernel[0]; ++k)
      for (std::int64_t l = 0; l < g.kernel[1]; ++l)
        for (std::int64_t p = 0; p < g.places[0]; ++p)
          for (std::int64_t q = 0; q < g.places[1]; ++q, ++e) {
            const std::int64_t i = p * g.stride[0] + k * g.dilation[0] - g.pad[0];
            const std::int64_t j = q * g.stride[1] + l * g.dilation[1] - g.pad[1];
            if (i < 0 || i >= g.length[0] || j < 0 || j >= g.length[1]) continue;
            y[static_cast<std::size_t>((plane * g.length[0] + i) * g.length[1] + j)] += T(x(e));
          }
  return y;
}

TEST(Col2Im, AddsUpWindowsWithStridesDilationsAndPads) {
  const Windows g{.channels = 2,
                  .length = {5, 4},
                  .kernel = {2, 2},
                  .stride = {2, 1},
                  .dilation = {1, 2},
                  .pad = {1, 0},
                  .places = {3, 2}};
  OperatorFixture op("Col2Im", 18);
  op.with("strides", {2, 1}).with("dilations", {1, 2}).with("pads", {1, 0, 1, 0});
  op.data({8, 6}).integers({2}, {5, 4}).integers({2}, {2, 2});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 2, 5, 4)");
  expect_computes(op, y, [&](const auto& theta, const double* x) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return folded<T>(g, [&](std::int64_t e) { return x[e]; });
  });
}

TEST(Col2Im, OfOneAxisAndSeveralSamplesWithoutABatch) {
  const Windows g{
      .samples = 2, .channels = 2, .length = {4, 1}, .kernel = {3, 1}, .places = {2, 1}};
  OperatorFixture op("Col2Im", 18);
  op.parameter({2, 6, 2}).integers({1}, {4}).integers({1}, {3});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(2, 2, 4)");
  expect_computes(op, y, [&](const auto& theta, const double*) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return folded<T>(g, [&](std::int64_t e) { return theta(e); });
  });
}

// torch.nn.functional.fold(x, (4, 3), (2, 2), padding=(1, 0), stride=(2, 1)).
TEST(Col2Im, AgreesWithPyTorch) {
  std::vector<double> x;
  for (int e = 0; e < 48; ++e) x.push_back(std::sin(0.5 * e));
  OperatorFixture op("Col2Im", 18);
  op.with("pads", {1, 0, 1, 0}).with("strides", {2, 1}).numbers({1, 8, 6}, x);
  op.integers({2}, {4, 3}).integers({2}, {2, 2});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(1, 2, 4, 3)");
  const std::vector<double> expected = {
      -0.27941549819892586, 0.62723847332957217,  -0.075151120461809301, 0.8414709848078965,
      0.24069249129612624,  -0.97753011766509701, 0.65698659871878906,   0.39397886588536912,
      -0.87969575997167004, 0.90929742682568171,  -0.36045213055918202,  -0.70554032557039192,
      -0.75098724677167605, 0.49417502006644354,  0.47163900309419615,   0.42016703682664092,
      0.51588110988655567,  -0.71178534236912305, 0.14987720966295234,   0.59668856042919716,
      -0.48717451246050952, 0.99060735569487035,  -0.026502436354873815, -0.97562600546815759};
  const auto got = op.graph().constant_value(*y.var);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t e = 0; e < got.size(); ++e) EXPECT_NEAR(got[e], expected[e], 1e-14) << e;
}

TEST(Col2Im, SaysWhatDoesNotFit) {
  const auto refused = [](auto prepare, const std::string& why) {
    OperatorFixture op("Col2Im", 18);
    prepare(op);
    expect_refused(op, why);
  };
  const auto of = [](OperatorFixture& op, const Ints& image, const Ints& block) {
    const auto count = [](const Ints& list) { return static_cast<std::int64_t>(list.size()); };
    op.data({8, 6}).integers({count(image)}, image).integers({count(block)}, block);
  };
  refused([&](auto& op) { of(op, {4, 3}, {2}); }, "has an image of 2 axes and a block of 1");
  refused([&](auto& op) { of(op, {}, {}); }, "has an image of 0 axes");
  refused([&](auto& op) { of(op, {4, 0}, {2, 2}); }, "a length of the image 0 is not from 1");
  refused([&](auto& op) { of(op, {4, 3}, {-2, 2}); }, "a length of the block -2 is not from 1");
  refused(
      [&](auto& op) {
        of(op, {4, 3}, {3, 1});
      },
      "axis 1 of (N, 8, 6) is of no whole number of blocks of 3 entries");
  refused(
      [&](auto& op) {
        of(op, {4, 4}, {2, 2});
      },
      "blocks stand at 9 places of its image, and a tensor (N, 8, 6) is of 6");
  refused([&](auto& op) { of(op, {4, 1}, {2, 2}); }, "a kernel of 2 with dilation 1 does not fit");
  refused([&](auto& op) { of(op, {5'000'000, 5'000'000}, {2, 2}); }, "at most 10000000");
  refused([](auto& op) { op.data({8}).integers({1}, {4}).integers({1}, {2}); },
          "takes a tensor (N, C * block, places), got (N, 8)");
  refused(
      [](auto& op) {
        op.data_with_axes({{.size = 1}, {.size = 8}, onnx::kBatchAxis});
        op.integers({1}, {4}).integers({1}, {2});
      },
      "adds up windows along axis 2 of (1, 8, N), the batch (N)");
}

}  // namespace
}  // namespace hesscope
