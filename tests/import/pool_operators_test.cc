// SPDX-License-Identifier: BSD-3-Clause
//
// Pools against loops over the entries of each window.
#include <cmath>
#include <limits>
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

// Windows over (channels, length), with what they reach of the padding.
struct Line {
  std::int64_t channels = 2;
  std::int64_t length = 1;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad = 0;  // in front
  std::int64_t places = 1;
};

// of_window(entries) for each channel and place; `entries` are those inside.
template <typename T, typename Theta, typename OfWindow>
std::vector<T> pooled(const Line& line, const Theta& x, const OfWindow& of_window) {
  std::vector<T> y;
  for (std::int64_t c = 0; c < line.channels; ++c) {
    for (std::int64_t p = 0; p < line.places; ++p) {
      std::vector<T> entries;
      for (std::int64_t k = 0; k < line.kernel; ++k) {
        const std::int64_t i = p * line.stride + k * line.dilation - line.pad;
        if (i >= 0 && i < line.length) entries.push_back(x(c * line.length + i));
      }
      y.push_back(of_window(entries));
    }
  }
  return y;
}

template <typename OfWindow>
auto pool_of_parameters(const Line& line, OfWindow of_window) {
  return [line, of_window](const auto& theta, const double*) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return pooled<T>(line, theta, of_window);
  };
}

const auto kLargest = [](const auto& entries) {
  auto largest = entries.front();
  for (const auto& entry : entries) largest = entry > largest ? entry : largest;
  return largest;
};

const auto kSum = [](const auto& entries) {
  auto total = entries.front();
  for (std::size_t i = 1; i < entries.size(); ++i) total += entries[i];
  return total;
};

const auto kMean = [](const auto& entries) {
  using T = std::decay_t<decltype(entries.front())>;
  return T(kSum(entries) / T(static_cast<double>(entries.size())));
};

TEST(MaxPool, TakesNoPaddingForAnEntry) {
  const Line line{.length = 7, .kernel = 3, .stride = 2, .pad = 1, .places = 4};
  OperatorFixture op("MaxPool");
  op.with("kernel_shape", {3}).with("strides", {2}).with("pads", {1, 1}).parameter({1, 2, 7});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(1, 2, 4)");
  expect_computes(op, y, pool_of_parameters(line, kLargest));
}

// All entries are negative: a zero in the padding would win.
TEST(MaxPool, OfNegativeEntries) {
  OperatorFixture op("MaxPool");
  op.with("kernel_shape", {2}).with("pads", {1, 1}).numbers({1, 1, 2}, {-3, -2});
  const onnx::Value y = op.result();
  const auto entries = op.graph().constant_value(*y.var);
  EXPECT_EQ(std::vector<double>(entries.begin(), entries.end()), (std::vector<double>{-3, -2, -2}));
}

TEST(MaxPool, DilatesAndRoundsUp) {
  const Line line{.length = 8, .kernel = 2, .stride = 3, .dilation = 3, .places = 3};
  OperatorFixture op("MaxPool");
  op.with("kernel_shape", {2}).with("strides", {3}).with("dilations", {3}).with("ceil_mode", 1);
  op.parameter({1, 2, 8});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(1, 2, 3)");
  expect_computes(op, y, pool_of_parameters(line, kLargest));
}

TEST(MaxPool, RoundsUpToWindowsThatBeginInside) {
  OperatorFixture op("MaxPool");
  op.with("kernel_shape", {1, 1}).with("strides", {2, 2}).with("ceil_mode", 1);
  op.data({1, 4, 5});
  EXPECT_EQ(text(op.result().axes), "(N, 1, 2, 3)");
}

// As PyTorch has it of images that have become smaller than the kernel.
TEST(MaxPool, RoundsUpToAWindowThatEndsBehindTheTensor) {
  const Line line{.length = 2, .kernel = 3, .stride = 2, .places = 1};
  OperatorFixture op("MaxPool");
  op.with("kernel_shape", {3}).with("strides", {2}).with("ceil_mode", 1).parameter({1, 2, 2});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(1, 2, 1)");
  expect_computes(op, y, pool_of_parameters(line, kLargest));
  OperatorFixture too_far("MaxPool");
  too_far.with("kernel_shape", {3}).with("strides", {1}).with("ceil_mode", 1).data({1, 2});
  test::expect_refused(too_far, "does not fit a length of 2");
}

TEST(AveragePool, CountsEntriesOfTheTensor) {
  const Line line{.length = 6, .kernel = 3, .stride = 2, .pad = 1, .places = 4};
  OperatorFixture op("AveragePool");
  op.with("kernel_shape", {3}).with("strides", {2}).with("pads", {1, 1}).with("ceil_mode", 1);
  op.parameter({1, 2, 6});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(1, 2, 4)");
  expect_computes(op, y, pool_of_parameters(line, kMean));
}

// What a rounded-up window has beyond the padding never counts.
TEST(AveragePool, CountsThePaddingIfAsked) {
  OperatorFixture op("AveragePool");
  op.with("kernel_shape", {3}).with("strides", {2}).with("pads", {1, 0}).with("ceil_mode", 1);
  op.with("count_include_pad", 1).parameter({1, 1, 4});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(1, 1, 2)");
  expect_computes(op, y, [](const auto& x, const double*) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return std::vector<T>{(x(0) + x(1)) / T(3.0), (x(1) + x(2) + x(3)) / T(3.0)};
  });
}

TEST(AveragePool, OfTwoAxesOfASample) {
  OperatorFixture op("AveragePool");
  op.with("kernel_shape", {2, 2}).with("auto_pad", "SAME_UPPER").data({1, 2, 2});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 1, 2, 2)");
  expect_computes(op, y, [](const auto& theta, const double* x) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return std::vector<T>{
        T((x[0] + x[1] + x[2] + x[3]) / 4), T((x[1] + x[3]) / 2), T((x[2] + x[3]) / 2), T(x[3])};
  });
}

TEST(LpPool, OfEvenAndOddOrders) {
  const Line line{.length = 5, .kernel = 2, .stride = 1, .places = 4};
  for (const int p : {1, 2, 3, 4}) {
    OperatorFixture op("LpPool");
    op.with("kernel_shape", {2}).with("p", p).parameter({1, 2, 5});
    expect_computes(op, op.result(), pool_of_parameters(line, [p](const auto& entries) {
                      using std::abs, std::pow;
                      using T = std::decay_t<decltype(entries.front())>;
                      T total(0.0);
                      for (const T& entry : entries) total += T(pow(T(abs(entry)), p));
                      return T(pow(total, T(T(1.0) / T(static_cast<double>(p)))));
                    }));
  }
}

TEST(GlobalPools, AreOverAllPlacesOfAChannel) {
  const Line line{.length = 6, .kernel = 6};
  const auto expect_pool = [&](const std::string& name, auto of_window) {
    OperatorFixture op(name);
    op.parameter({1, 2, 2, 3});
    const onnx::Value y = op.result();
    EXPECT_EQ(text(y.axes), "(1, 2, 1, 1)");
    expect_computes(op, y, pool_of_parameters(line, of_window));
  };
  expect_pool("GlobalAveragePool", kMean);
  expect_pool("GlobalMaxPool", kLargest);
  expect_pool("GlobalLpPool", [](const auto& entries) {
    using std::sqrt;
    using T = std::decay_t<decltype(entries.front())>;
    T total(0.0);
    for (const T& entry : entries) total += entry * entry;
    return T(sqrt(total));
  });
}

TEST(Pools, SayWhatIsWrong) {
  const auto refused = [](const std::string& name, auto prepare, const std::string& why) {
    OperatorFixture op(name);
    prepare(op);
    op.data({2, 4});
    expect_refused(op, why);
  };
  refused(
      "MaxPool", [](auto&) {}, "has no kernel_shape");
  refused(
      "MaxPool",
      [](auto& op) {
        op.with("kernel_shape", {2, 2});
      },
      "there must be 1");
  refused(
      "MaxPool", [](auto& op) { op.with("kernel_shape", {5}); }, "does not fit a length of 4");
  refused(
      "MaxPool",
      [](auto& op) {
        op.with("kernel_shape", {2}).with("pads", {2, 0});
      },
      "a window lies in the padding alone");
  refused(
      "AveragePool",
      [](auto& op) {
        op.with("kernel_shape", {1}).with("pads", {0, 1});
      },
      "a window lies in the padding alone");
  refused(
      "LpPool", [](auto& op) { op.with("kernel_shape", {2}).with("p", 0); }, "p = 0");
}

TEST(Pools, DoNotLetSamplesMeet) {
  for (const std::string name : {"MaxPool", "AveragePool", "LpPool", "GlobalAveragePool"}) {
    OperatorFixture op(name);
    op.with("kernel_shape", {1}).data_with_axes({{.size = 1}, {.size = 1}, onnx::kBatchAxis});
    expect_refused(op, "pools over axis 2 of (1, 1, N), the batch (N)");
  }
}

}  // namespace
}  // namespace hesscope
