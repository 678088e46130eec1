// SPDX-License-Identifier: BSD-3-Clause
//
// Conv and ConvTranspose against loops over samples, channels, places and kernel entries.
#include <array>
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

// Two spatial axes; with fewer, the others have length 1.
struct Geometry {
  std::int64_t samples = 1;
  std::int64_t channels = 1;
  std::int64_t outputs = 1;
  std::int64_t groups = 1;
  std::array<std::int64_t, 2> length = {1, 1};
  std::array<std::int64_t, 2> kernel = {1, 1};
  std::array<std::int64_t, 2> stride = {1, 1};
  std::array<std::int64_t, 2> dilation = {1, 1};
  std::array<std::int64_t, 2> pad = {0, 0};     // in front
  std::array<std::int64_t, 2> places = {1, 1};  // of Conv's result, of ConvTranspose's too

  std::int64_t num_inputs() const { return samples * channels * length[0] * length[1]; }

  std::int64_t num_weights() const { return channels * outputs / groups * kernel[0] * kernel[1]; }

  std::int64_t num_results() const { return samples * outputs * places[0] * places[1]; }

  // Where y[b, o, p, q] is.
  std::size_t result(std::int64_t b, std::int64_t o, std::int64_t p, std::int64_t q) const {
    return static_cast<std::size_t>(((b * outputs + o) * places[0] + p) * places[1] + q);
  }

  // Calls back for all pairs of entries, of an input and a result of the same group, and the
  // kernel's: f(sample, input channel, output channel, kernel entry).
  template <typename F>
  void for_each_pair(const F& f) const {
    for (std::int64_t b = 0; b < samples; ++b)
      for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t o = 0; o < outputs; ++o)
          for (std::int64_t k = 0; k < kernel[0]; ++k)
            for (std::int64_t l = 0; l < kernel[1]; ++l)
              if (c / (channels / groups) == o / (outputs / groups)) f(b, c, o, k, l);
  }
};

// y[b, o, p, q] = bias[o].
template <typename T, typename B>
std::vector<T> biases(const Geometry& g, const B& bias) {
  std::vector<T> y(static_cast<std::size_t>(g.num_results()));
  for (std::int64_t b = 0; b < g.samples; ++b)
    for (std::int64_t o = 0; o < g.outputs; ++o)
      for (std::int64_t p = 0; p < g.places[0]; ++p)
        for (std::int64_t q = 0; q < g.places[1]; ++q) y[g.result(b, o, p, q)] = T(bias(o));
  return y;
}

// y[b, o, p, q] = bias[o] + sum over c, k, l of x[b, c, p s - pad + k d, ...] w[o, c, k, l].
template <typename T, typename X, typename W, typename B>
std::vector<T> convolved(const Geometry& g, const X& x, const W& w, const B& bias) {
  std::vector<T> y = biases<T>(g, bias);
  const auto at = [&](auto... place) -> T& { return y[g.result(place...)]; };
  const std::int64_t width = g.channels / g.groups;
  g.for_each_pair([&](auto b, auto c, auto o, auto k, auto l) {
    for (std::int64_t p = 0; p < g.places[0]; ++p) {
      for (std::int64_t q = 0; q < g.places[1]; ++q) {
        const std::int64_t i = p * g.stride[0] + k * g.dilation[0] - g.pad[0];
        const std::int64_t j = q * g.stride[1] + l * g.dilation[1] - g.pad[1];
        if (i < 0 || i >= g.length[0] || j < 0 || j >= g.length[1]) continue;
        at(b, o, p, q) += T(x(((b * g.channels + c) * g.length[0] + i) * g.length[1] + j)) *
                          T(w(((o * width + c % width) * g.kernel[0] + k) * g.kernel[1] + l));
      }
    }
  });
  return y;
}

// y[b, o, i s + k d - pad, ...] += x[b, c, i, j] w[c, o, k, l].
template <typename T, typename X, typename W, typename B>
std::vector<T> transposed(const Geometry& g, const X& x, const W& w, const B& bias) {
  std::vector<T> y = biases<T>(g, bias);
  const auto at = [&](auto... place) -> T& { return y[g.result(place...)]; };
  const std::int64_t height = g.outputs / g.groups;
  g.for_each_pair([&](auto b, auto c, auto o, auto k, auto l) {
    for (std::int64_t i = 0; i < g.length[0]; ++i) {
      for (std::int64_t j = 0; j < g.length[1]; ++j) {
        const std::int64_t p = i * g.stride[0] + k * g.dilation[0] - g.pad[0];
        const std::int64_t q = j * g.stride[1] + l * g.dilation[1] - g.pad[1];
        if (p < 0 || p >= g.places[0] || q < 0 || q >= g.places[1]) continue;
        at(b, o, p, q) += T(x(((b * g.channels + c) * g.length[0] + i) * g.length[1] + j)) *
                          T(w(((c * height + o % height) * g.kernel[0] + k) * g.kernel[1] + l));
      }
    }
  });
  return y;
}

// Weights, then biases, are the parameters; a sample's record is x.
template <bool kTransposed>
auto of_data(const Geometry& g, bool has_bias) {
  return [g, has_bias](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    const auto x = [&](std::int64_t e) { return record[e]; };
    const auto w = [&](std::int64_t e) { return theta(e); };
    const auto b = [&](std::int64_t o) { return has_bias ? theta(g.num_weights() + o) : T(0.0); };
    if constexpr (kTransposed) return transposed<T>(g, x, w, b);
    return convolved<T>(g, x, w, b);
  };
}

TEST(Conv, OfTwoAxesWithStridesDilationsPadsAndABias) {
  const Geometry g{.channels = 2,
                   .outputs = 2,
                   .length = {6, 5},
                   .kernel = {2, 2},
                   .stride = {2, 1},
                   .dilation = {1, 2},
                   .pad = {1, 0},
                   .places = {4, 4}};
  OperatorFixture op("Conv");
  op.with("strides", {2, 1}).with("dilations", {1, 2}).with("pads", {1, 0, 1, 1});
  op.data({2, 6, 5}).parameter({2, 2, 2, 2}).parameter({2});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 2, 4, 4)");
  expect_computes(op, y, of_data<false>(g, true));
}

TEST(Conv, OfGroupsOfChannels) {
  const Geometry g{.channels = 4,
                   .outputs = 6,
                   .groups = 2,
                   .length = {4, 1},
                   .kernel = {2, 1},
                   .places = {3, 1}};
  OperatorFixture op("Conv");
  op.with("group", 2).with("kernel_shape", {2}).data({4, 4}).parameter({6, 2, 2});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 6, 3)");
  expect_computes(op, y, of_data<false>(g, false));
}

// The tensor has its samples in it, as parameters: a product for each sample and group.
TEST(Conv, OfGroupsAndSeveralSamplesWithoutABatch) {
  const Geometry g{.samples = 2,
                   .channels = 2,
                   .outputs = 2,
                   .groups = 2,
                   .length = {3, 1},
                   .kernel = {2, 1},
                   .pad = {1, 0},
                   .places = {3, 1}};
  OperatorFixture op("Conv");
  op.with("group", 2).with("auto_pad", "SAME_LOWER");
  op.parameter({2, 2, 3}).parameter({2, 1, 2}).numbers({2}, {0.5, -0.25});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(2, 2, 3)");
  expect_computes(op, y, [&](const auto& theta, const double*) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return convolved<T>(
        g,
        [&](std::int64_t e) { return theta(e); },
        [&](std::int64_t e) { return theta(g.num_inputs() + e); },
        [&](std::int64_t o) { return o == 0 ? 0.5 : -0.25; });
  });
}

TEST(Conv, PadsAsAskedToKeepTheLength) {
  const auto shape_with = [](const char* auto_pad, int stride) {
    OperatorFixture op("Conv");
    op.with("auto_pad", auto_pad).with("strides", {stride}).data({1, 5}).parameter({1, 1, 2});
    return text(op.result().axes);
  };
  EXPECT_EQ(shape_with("SAME_UPPER", 1), "(N, 1, 5)");
  EXPECT_EQ(shape_with("SAME_LOWER", 2), "(N, 1, 3)");
  EXPECT_EQ(shape_with("VALID", 2), "(N, 1, 2)");
  EXPECT_EQ(shape_with("NOTSET", 1), "(N, 1, 4)");
}

TEST(Conv, TakesWhatHasOtherFactorsBesidesTheBatchInFront) {
  OperatorFixture op("Conv");
  op.data_with_axes({{.size = 6, .has_batch = true, .before = 2}, {.size = 1}, {.size = 4}});
  op.parameter({1, 1, 2});
  EXPECT_EQ(text(op.result().axes), "(2 N 3, 1, 3)");
}

TEST(Conv, SaysWhatDoesNotFit) {
  const auto refused = [](auto prepare, const std::string& why) {
    OperatorFixture op("Conv");
    prepare(op);
    op.data({2, 4, 4}).parameter({3, 2, 2, 2});
    expect_refused(op, why);
  };
  refused([](auto& op) { op.with("strides", {0, 1}); }, "stride 0 is not from 1");
  refused([](auto& op) { op.with("strides", {1}); }, "'strides' has 1 numbers; there must be 2");
  refused(
      [](auto& op) {
        op.with("dilations", {4, 1});
      },
      "a kernel of 2 with dilation 4 does not fit a length of 4 with pads 0 and 0");
  refused([](auto& op) { op.with("pads", {0, -1, 0, 0}); }, "pad -1 is not from 0");
  refused([](auto& op) { op.with("group", 2); },
          "weights (3, 2, 2, 2) in 2 group(s) take 4 channels; the tensor (N, 2, 4, 4) has 2");
  refused([](auto& op) { op.with("group", 0); }, "group 0 is not from 1 to the 2 channels");
  refused([](auto& op) { op.with("kernel_shape", {3, 2}); }, "kernel_shape is not that of");
  refused([](auto& op) { op.with("auto_pad", "SAME"); }, "auto_pad 'SAME' is none of");
  refused(
      [](auto& op) {
        op.with("auto_pad", "VALID").with("pads", {0, 1, 0, 0});
      },
      "has both pads and auto_pad 'VALID'");
  refused([](auto& op) { op.with("pads", {5'000'000, 5'000'000, 0, 0}); }, "at most 10000000");

  OperatorFixture other_rank("Conv");
  other_rank.data({2, 4}).parameter({3, 2, 2, 2});
  expect_refused(other_rank, "weights (3, 2, 2, 2) and a tensor (N, 2, 4) differ in rank");
  OperatorFixture bias("Conv");
  bias.data({2, 4}).parameter({3, 2, 2}).parameter({2});
  expect_refused(bias, "a bias (2,) does not fit 3 channels");
}

TEST(Conv, DoesNotLetSamplesMeet) {
  const onnx::Axes batch_as_channels = {{.size = 1}, onnx::kBatchAxis, {.size = 4}};
  OperatorFixture channels("Conv");
  channels.data_with_axes(batch_as_channels).parameter({1, 1, 2});
  expect_refused(channels, "convolves over axis 1 of (1, N, 4), the batch (N)");
  OperatorFixture places("Conv");
  places.data_with_axes({{.size = 1}, {.size = 1}, {.size = 4, .has_batch = true}});
  places.parameter({1, 1, 2});
  expect_refused(places, "convolves over axis 2 of (1, 1, N 4), the batch (N)");
  OperatorFixture weights("Conv");
  weights.parameter({1, 1, 4}).data({1, 2});
  expect_refused(weights, "its weights have the samples along axis 0");
}

TEST(ConvTranspose, OfTwoAxesWithStridesDilationsPadsAndABias) {
  const Geometry g{.channels = 2,
                   .outputs = 2,
                   .length = {3, 2},
                   .kernel = {2, 2},
                   .stride = {2, 1},
                   .dilation = {1, 2},
                   .pad = {1, 0},
                   .places = {5, 3}};
  OperatorFixture op("ConvTranspose");
  op.with("strides", {2, 1}).with("dilations", {1, 2}).with("pads", {1, 0, 1, 1});
  op.with("output_padding", {1, 0});
  op.data({2, 3, 2}).parameter({2, 2, 2, 2}).parameter({2});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 2, 5, 3)");
  expect_computes(op, y, of_data<true>(g, true));
}

TEST(ConvTranspose, OfGroupsAndSeveralSamplesWithoutABatch) {
  const Geometry g{.samples = 2,
                   .channels = 2,
                   .outputs = 4,
                   .groups = 2,
                   .length = {2, 1},
                   .kernel = {2, 1},
                   .stride = {3, 1},
                   .places = {5, 1}};
  OperatorFixture op("ConvTranspose");
  op.with("group", 2).with("strides", {3}).parameter({2, 2, 2}).parameter({2, 2, 2});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(2, 4, 5)");
  expect_computes(op, y, [&](const auto& theta, const double*) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return transposed<T>(
        g,
        [&](std::int64_t e) { return theta(e); },
        [&](std::int64_t e) { return theta(g.num_inputs() + e); },
        [](std::int64_t) { return 0.0; });
  });
}

// output_shape gives the pads: the odd one in front, behind for SAME_UPPER.
TEST(ConvTranspose, FindsThePadsOfAnOutputShape) {
  for (const bool upper : {false, true}) {
    const Geometry g{.length = {3, 1},
                     .kernel = {4, 1},
                     .stride = {2, 1},
                     .pad = {upper ? 1 : 2, 0},
                     .places = {5, 1}};
    OperatorFixture op("ConvTranspose");
    op.with("strides", {2}).with("output_shape", {5}).data({1, 3}).parameter({1, 1, 4});
    if (upper) op.with("auto_pad", "SAME_UPPER");
    const onnx::Value y = op.result();
    EXPECT_EQ(text(y.axes), "(N, 1, 5)");
    expect_computes(op, y, of_data<true>(g, false));
  }
}

TEST(ConvTranspose, SaysWhatDoesNotFit) {
  OperatorFixture padding("ConvTranspose");
  padding.with("output_padding", {2}).with("strides", {2}).data({1, 3}).parameter({1, 1, 4});
  expect_refused(padding, "output_padding 2 is not below the stride 2 or the dilation 1");
  OperatorFixture channels("ConvTranspose");
  channels.data({1, 3}).parameter({2, 1, 4});
  expect_refused(channels, "weights (2, 1, 4) in 1 group(s) do not fit the 1 channels");
  OperatorFixture pads("ConvTranspose");
  pads.with("pads", {3, 3}).data({1, 3}).parameter({1, 1, 4});
  expect_refused(pads, "without entries");
}

}  // namespace
}  // namespace hesscope
