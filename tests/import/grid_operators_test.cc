// SPDX-License-Identifier: BSD-3-Clause
//
// GridSample against a sum over all entries of the image, continued beyond its ends, weighed by a
// kernel of their distance.
#include <algorithm>
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

struct Sampling {
  std::string mode;
  std::string padding;
  bool aligns_corners = false;
};

constexpr int kHeight = 3;
constexpr int kWidth = 2;

// The entry that stands at i beyond the ends, -1 for a zero.
int continued(int i, int length, const Sampling& sampling) {
  if (sampling.padding == "zeros") return i < 0 || i >= length ? -1 : i;
  if (sampling.padding == "border") return std::min(std::max(i, 0), length - 1);
  const int period = sampling.aligns_corners ? 2 * (length - 1) : 2 * length;
  const int turn = ((i % period) + period) % period;
  if (turn < length) return turn;
  return (sampling.aligns_corners ? period : period - 1) - turn;
}

template <typename T>
T kernel_at(T t, const Sampling& sampling) {
  using std::abs;
  t = abs(t);
  if (sampling.mode == "nearest") return T(t < T(0.5) ? 1.0 : 0.0);
  if (sampling.mode == "bilinear") return T(t < T(1.0) ? T(T(1.0) - t) : T(0.0));
  if (t < T(1.0)) return T((T(1.25) * t - T(2.25)) * t * t + T(1.0));
  if (t < T(2.0)) return T(T(-0.75) * (t - T(1.0)) * (t - T(2.0)) * (t - T(2.0)));
  return T(0.0);
}

// The weights of the entries of one axis at a place.
template <typename T>
std::vector<T> weights_at(const T& grid, int length, const Sampling& sampling) {
  const T scaled = (grid + T(1.0)) / T(2.0);
  const T at = sampling.aligns_corners ? T(scaled * T(length - 1.0))
                                       : T(scaled * T(static_cast<double>(length)) - T(0.5));
  std::vector<T> weights(static_cast<std::size_t>(length), T(0.0));
  for (int i = -8; i < 12; ++i) {
    const int entry = continued(i, length, sampling);
    if (entry < 0) continue;
    weights[static_cast<std::size_t>(entry)] +=
        kernel_at(T(at - T(static_cast<double>(i))), sampling);
  }
  return weights;
}

// image(entry) and grid(entry), each with its entries in order.
template <typename T, typename Image, typename Grid>
std::vector<T> sampled(
    int channels, int places, const Image& image, const Grid& grid, const Sampling& sampling) {
  std::vector<T> y;
  for (int c = 0; c < channels; ++c) {
    for (int p = 0; p < places; ++p) {
      const std::vector<T> across = weights_at<T>(grid(2 * p), kWidth, sampling);
      const std::vector<T> down = weights_at<T>(grid(2 * p + 1), kHeight, sampling);
      T total(0.0);
      for (int i = 0; i < kHeight; ++i) {
        for (int j = 0; j < kWidth; ++j) {
          total += down[static_cast<std::size_t>(i)] * across[static_cast<std::size_t>(j)] *
                   T(image((c * kHeight + i) * kWidth + j));
        }
      }
      y.push_back(total);
    }
  }
  return y;
}

OperatorFixture& with_sampling(OperatorFixture& op, const Sampling& sampling) {
  op.with("mode", sampling.mode.c_str()).with("padding_mode", sampling.padding.c_str());
  return op.with("align_corners", sampling.aligns_corners ? 1 : 0);
}

TEST(GridSample, HasSlopesByImageAndPlaces) {
  for (const char* mode : {"bilinear", "bicubic"}) {
    for (const char* padding : {"zeros", "border"}) {
      for (const bool aligns : {false, true}) {
        SCOPED_TRACE(std::string(mode) + " " + padding);
        const Sampling sampling{mode, padding, aligns};
        OperatorFixture op("GridSample");
        with_sampling(op, sampling).parameter({1, 1, kHeight, kWidth});
        op.parameter({1, 2, 1, 2});
        const onnx::Value y = op.result();
        EXPECT_EQ(text(y.axes), "(1, 1, 2, 1)");
        expect_computes(op, y, [&](const auto& theta, const double*) {
          using T = typename std::decay_t<decltype(theta)>::Scalar;
          constexpr int kImage = kHeight * kWidth;
          return sampled<T>(
              1,
              2,
              [&](int e) { return theta(e); },
              [&](int e) { return theta(kImage + e); },
              sampling);
        });
      }
    }
  }
}

TEST(GridSample, OfPlacesOutside) {
  const std::vector<double> places = {-1.3, 0.2, 2.7, -3.1, 0.9, 4.2, -2.6, 1.1};
  for (const char* mode : {"nearest", "bilinear", "bicubic"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      for (const bool aligns : {false, true}) {
        SCOPED_TRACE(std::string(mode) + " " + padding);
        const Sampling sampling{mode, padding, aligns};
        OperatorFixture op("GridSample");
        with_sampling(op, sampling).parameter({1, 1, kHeight, kWidth});
        op.numbers({1, 2, 2, 2}, places);
        expect_computes(op, op.result(), [&](const auto& theta, const double*) {
          using T = typename std::decay_t<decltype(theta)>::Scalar;
          return sampled<T>(
              1,
              4,
              [&](int e) { return theta(e); },
              [&](int e) { return T(places[static_cast<std::size_t>(e)]); },
              sampling);
        });
      }
    }
  }
}

TEST(GridSample, ReadsAllChannels) {
  const std::vector<double> places = {-0.3, 0.2, 0.7, -0.1};
  OperatorFixture op("GridSample");
  op.parameter({1, 2, kHeight, kWidth}).numbers({1, 1, 2, 2}, places);
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(1, 2, 1, 2)");
  expect_computes(op, y, [&](const auto& theta, const double*) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return sampled<T>(
        2,
        2,
        [&](int e) { return theta(e); },
        [&](int e) { return T(places[static_cast<std::size_t>(e)]); },
        {"bilinear", "zeros"});
  });
}

TEST(GridSample, ReadsEachSampleAtItsOwnPlaces) {
  OperatorFixture op("GridSample");
  op.with("mode", "nearest").with("align_corners", 1);
  op.numbers({2, 1, 1, 2}, {1, 2, 3, 4}).numbers({2, 1, 1, 2}, {-1, 0, 1, 0});
  const onnx::Value y = op.result();
  const auto entries = op.graph().constant_value(*y.var);
  EXPECT_EQ(std::vector<double>(entries.begin(), entries.end()), (std::vector<double>{1, 4}));
  OperatorFixture batch("GridSample");
  batch.data({1, 3, 3}).data({2, 2, 2});
  EXPECT_EQ(text(batch.result().axes), "(N, 1, 2, 2)");
}

TEST(GridSample, SaysWhatIsWrong) {
  OperatorFixture places("GridSample");
  places.data({1, 3, 3}).data({2, 2, 3});
  expect_refused(places, "takes (N, C, H, W) and a grid (N, H', W', 2), got (N, 1, 3, 3)");
  OperatorFixture samples("GridSample");
  samples.data({1, 3, 3}).parameter({1, 2, 2, 2});
  expect_refused(samples, "(N, 1, 3, 3) and a grid (1, 2, 2, 2) are not of the same samples");
  OperatorFixture batch("GridSample");
  batch.data_with_axes({{.size = 1}, onnx::kBatchAxis, {.size = 3}, {.size = 3}});
  batch.parameter({1, 2, 2, 2});
  expect_refused(batch, "samples places of axis 1 of (1, N, 3, 3), the batch (N)");
  OperatorFixture mode("GridSample");
  mode.with("mode", "best").data({1, 3, 3}).data({2, 2, 2});
  expect_refused(mode, "mode 'best' is none of");
}

}  // namespace
}  // namespace hesscope
