// SPDX-License-Identifier: BSD-3-Clause
//
// Normalisations against loops over what they are taken of.
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

// Entries [first, first + count * step) of x less their mean, over
// sqrt(variance + epsilon) + beside.
template <typename T, typename X>
std::vector<T> standardised(const X& x,
                            std::int64_t first,
                            std::int64_t count,
                            std::int64_t step,
                            double epsilon,
                            double beside = 0) {
  using std::sqrt;
  T mean(0.0);
  T variance(0.0);
  const T n(static_cast<double>(count));
  for (std::int64_t i = 0; i < count; ++i) mean += x(first + i * step) / n;
  for (std::int64_t i = 0; i < count; ++i) {
    const T rest = x(first + i * step) - mean;
    variance += rest * rest / n;
  }
  const T deviation = T(sqrt(T(variance + T(epsilon)))) + T(beside);
  std::vector<T> y;
  for (std::int64_t i = 0; i < count; ++i) {
    y.push_back(T((x(first + i * step) - mean) / deviation));
  }
  return y;
}

TEST(BatchNormalization, TakesLearntStatistics) {
  OperatorFixture op("BatchNormalization", 15);
  op.with("epsilon", 0.01).data({2, 3}).parameter({2}).parameter({2});
  op.numbers({2}, {0.25, -0.5}).numbers({2}, {0.5, 2});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 2, 3)");
  expect_computes(op, y, [](const auto& theta, const double* x) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    using std::sqrt;
    std::vector<T> result;
    for (int c = 0; c < 2; ++c) {
      const T deviation = sqrt(T(T(c == 0 ? 0.5 : 2.0) + T(0.01)));
      for (int i = 0; i < 3; ++i) {
        const T rest = T(x[3 * c + i]) - T(c == 0 ? 0.25 : -0.5);
        result.push_back(T(rest / deviation * theta(c) + theta(2 + c)));
      }
    }
    return result;
  });
}

TEST(BatchNormalization, OfRowsHasAStatisticForEachEntry) {
  OperatorFixture op("BatchNormalization", 9);
  op.data({3}).numbers({3}, {1, 2, 3}).parameter({3});
  op.numbers({3}, {0, 0, 1}).numbers({3}, {1, 4, 1}).with("epsilon", 0.0);
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 3)");
  expect_computes(op, y, [](const auto& theta, const double* x) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return std::vector<T>{
        T(x[0]) + theta(0), T(x[1]) + theta(1), T(3.0) * (T(x[2]) - T(1.0)) + theta(2)};
  });
}

TEST(BatchNormalization, WithoutSpatialHasOneForEachPlaceToo) {
  OperatorFixture op("BatchNormalization", 8);
  op.with("spatial", 0).with("epsilon", 0.0).data({1, 2}).numbers({1, 2}, {1, 2});
  op.parameter({1, 2}).numbers({1, 2}, {0, 0}).numbers({1, 2}, {1, 4});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 1, 2)");
  expect_computes(op, y, [](const auto& theta, const double* x) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return std::vector<T>{T(x[0]) + theta(0), T(x[1]) + theta(1)};
  });
}

TEST(BatchNormalization, IsRefusedInTrainingMode) {
  const auto expect_training = [](OperatorFixture& op) {
    op.data({2, 3}).parameter({2}).parameter({2}).numbers({2}, {0, 0}).numbers({2}, {1, 1});
    expect_refused(op, "is in training mode (training_mode)");
  };
  OperatorFixture attribute("BatchNormalization", 15);
  attribute.with("training_mode", 1);
  expect_training(attribute);
  OperatorFixture outputs("BatchNormalization", 9);
  outputs.outputs({"y", "mean", "var"});
  expect_training(outputs);
}

TEST(BatchNormalization, SaysWhichStatisticDoesNotFit) {
  OperatorFixture op("BatchNormalization", 15);
  op.data({2, 3}).parameter({2}).parameter({3}).numbers({2}, {0, 0}).numbers({2}, {1, 1});
  expect_refused(op, "input 3 is (3,); a tensor (N, 2, 3) has 2 channels");
}

TEST(InstanceNormalization, OfEachChannel) {
  OperatorFixture op("InstanceNormalization");
  op.with("epsilon", 0.01).parameter({2, 2, 3}).parameter({2}).parameter({2});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(2, 2, 3)");
  expect_computes(op, y, [](const auto& theta, const double*) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> result;
    for (int row = 0; row < 4; ++row) {
      for (const T& z : standardised<T>(theta, 3 * row, 3, 1, 0.01)) {
        result.push_back(T(z * theta(12 + row % 2) + theta(14 + row % 2)));
      }
    }
    return result;
  });
}

// Scales are by group before opset 21, by channel since.
TEST(GroupNormalization, ScalesGroupsOrChannels) {
  for (const int opset : {18, 21}) {
    const int scales = opset < 21 ? 2 : 4;
    OperatorFixture op("GroupNormalization", opset);
    op.with("num_groups", 2).with("epsilon", 0.01);
    op.parameter({1, 4, 2}).parameter({scales}).parameter({scales});
    const onnx::Value y = op.result();
    EXPECT_EQ(text(y.axes), "(1, 4, 2)");
    expect_computes(op, y, [&](const auto& theta, const double*) {
      using T = typename std::decay_t<decltype(theta)>::Scalar;
      std::vector<T> result;
      for (int group = 0; group < 2; ++group) {
        const std::vector<T> rows = standardised<T>(theta, 4 * group, 4, 1, 0.01);
        for (int i = 0; i < 4; ++i) {
          const int which = opset < 21 ? group : 2 * group + i / 2;
          result.push_back(
              T(rows[static_cast<std::size_t>(i)] * theta(8 + which) + theta(8 + scales + which)));
        }
      }
      return result;
    });
  }
}

TEST(LayerNormalization, OfTheLastAxesWithItsStatistics) {
  OperatorFixture op("LayerNormalization");
  op.with("axis", -2).with("epsilon", 0.01).parameter({2, 2, 2}).parameter({2, 2}).parameter({2});
  const onnx::Values results = op.outputs({"y", "mean", "inverse"}).results();
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(text(results[0].axes), "(2, 2, 2)");
  EXPECT_EQ(text(results[1].axes), "(2, 1, 1)");
  EXPECT_EQ(text(results[2].axes), "(2, 1, 1)");
  expect_computes(op, results[0], [](const auto& theta, const double*) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> result;
    for (int row = 0; row < 2; ++row) {
      const std::vector<T> z = standardised<T>(theta, 4 * row, 4, 1, 0.01);
      for (int i = 0; i < 4; ++i) {
        result.push_back(T(z[static_cast<std::size_t>(i)] * theta(8 + i) + theta(12 + i % 2)));
      }
    }
    return result;
  });
}

TEST(LayerNormalization, GivesMeanAndInverseDeviation) {
  OperatorFixture op("LayerNormalization");
  op.with("epsilon", 0.0).numbers({1, 2}, {1, 5}).numbers({2}, {1, 1});
  const onnx::Values results = op.outputs({"y", "mean", "inverse"}).results();
  EXPECT_EQ(op.graph().constant_value(*results[1].var).front(), 3);
  EXPECT_EQ(op.graph().constant_value(*results[2].var).front(), 0.5);
}

TEST(Normalizations, RefuseANegativeEpsilon) {
  for (const std::string name : {"InstanceNormalization", "LayerNormalization"}) {
    OperatorFixture op(name);
    op.with("epsilon", -0.5).data({2, 3, 2}).parameter({2}).parameter({2});
    expect_refused(op, "epsilon -0.5 is no number from 0 on");
  }
}

// ONNX adds 1e-9 to the deviation.
TEST(MeanVarianceNormalization, OverAnyAxes) {
  OperatorFixture op("MeanVarianceNormalization");
  op.with("axes", {1}).parameter({2, 3, 2});
  expect_computes(op, op.result(), [](const auto& theta, const double*) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> result(12);
    for (int row = 0; row < 4; ++row) {
      const int first = row / 2 * 6 + row % 2;
      const std::vector<T> z = standardised<T>(theta, first, 3, 2, 0, 1e-9);
      for (int i = 0; i < 3; ++i) {
        result[static_cast<std::size_t>(first + 2 * i)] = z[static_cast<std::size_t>(i)];
      }
    }
    return result;
  });
}

TEST(LpNormalization, OfBothOrders) {
  for (const int p : {1, 2}) {
    OperatorFixture op("LpNormalization");
    op.with("axis", 0).with("p", p).parameter({3, 2});
    expect_computes(op, op.result(), [p](const auto& theta, const double*) {
      using T = typename std::decay_t<decltype(theta)>::Scalar;
      using std::abs, std::sqrt;
      std::vector<T> result;
      for (int e = 0; e < 6; ++e) {
        T norm(0.0);
        for (int i = e % 2; i < 6; i += 2) norm += p == 1 ? T(abs(theta(i))) : theta(i) * theta(i);
        result.push_back(T(theta(e) / (p == 1 ? norm : T(sqrt(norm)))));
      }
      return result;
    });
  }
}

TEST(RMSNormalization, DividesByTheRootMeanSquareOfTheAxesFromOneOn) {
  OperatorFixture op("RMSNormalization", 23);
  op.with("axis", 1).with("epsilon", 0.01).data({3, 2}).parameter({3, 1});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 3, 2)");
  expect_computes(op, y, [](const auto& theta, const double* x) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    double squares = 0.01;
    for (int e = 0; e < 6; ++e) squares += x[e] * x[e] / 6;
    std::vector<T> result;
    for (int e = 0; e < 6; ++e) result.push_back(T(x[e] / std::sqrt(squares)) * theta(e / 2));
    return result;
  });
  OperatorFixture own("RMSNormalization", 23);
  own.parameter({2, 2}).numbers({2}, {1, 3});
  expect_computes(own, own.result(), [](const auto& theta, const double*) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    using std::sqrt;
    std::vector<T> result;
    for (int e = 0; e < 4; ++e) {
      const int row = e / 2 * 2;
      const T squares = (theta(row) * theta(row) + theta(row + 1) * theta(row + 1)) / T(2.0);
      result.push_back(T(T(e % 2 == 0 ? 1.0 : 3.0) * theta(e) / sqrt(T(squares + T(1e-5)))));
    }
    return result;
  });
}

// Channels from c - floor((size - 1) / 2) to c + ceil((size - 1) / 2).
TEST(LRN, SumsOverChannelsNearby) {
  for (const int size : {2, 3}) {
    OperatorFixture op("LRN");
    op.with("size", size).with("alpha", 0.5).with("beta", 0.75).with("bias", 2.0);
    op.parameter({1, 4, 2});
    expect_computes(op, op.result(), [size](const auto& theta, const double*) {
      using T = typename std::decay_t<decltype(theta)>::Scalar;
      using std::pow;
      std::vector<T> result;
      for (int c = 0; c < 4; ++c) {
        for (int i = 0; i < 2; ++i) {
          T squares(0.0);
          for (int near = c - (size - 1) / 2; near <= c + size / 2; ++near) {
            if (near >= 0 && near < 4) squares += theta(2 * near + i) * theta(2 * near + i);
          }
          const T base = T(2.0) + T(0.5) / T(static_cast<double>(size)) * squares;
          result.push_back(T(theta(2 * c + i) / pow(base, T(0.75))));
        }
      }
      return result;
    });
  }
}

TEST(Normalizations, DoNotLetSamplesMeet) {
  const onnx::Axes batch_last = {{.size = 2}, {.size = 2}, onnx::kBatchAxis};
  for (const std::string name :
       {"InstanceNormalization", "LayerNormalization", "LpNormalization", "RMSNormalization"}) {
    OperatorFixture op(name);
    op.data_with_axes(batch_last).parameter({2}).parameter({2});
    expect_refused(op, "normalises over axis 2 of (2, 2, N), the batch (N)");
  }
  OperatorFixture all("MeanVarianceNormalization");
  all.data({2, 2, 2});
  expect_refused(all, "normalises over axis 0 of (N, 2, 2, 2), the batch (N)");
  OperatorFixture channels("LRN");
  channels.with("size", 3).data_with_axes({{.size = 2}, onnx::kBatchAxis});
  expect_refused(channels, "normalises over axis 1 of (2, N), the batch (N)");
}

}  // namespace
}  // namespace hesscope
