// SPDX-License-Identifier: BSD-3-Clause
//
// RNN, GRU and LSTM against loops over steps, gates and units.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "import/gate_functions.h"
#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using onnx::text;
using test::Column;
using test::expect_computes;
using test::expect_refusal;
using test::expect_refused;
using test::hyperbolic;
using test::logistic;
using test::OperatorFixture;

// One direction of one sequence: weights lie one behind the other, W then R then B.
template <typename T>
struct Unit {
  const Column<T>& weights;
  const std::vector<T>& x;  // inputs by step
  int gates;
  int features;
  int hidden;
  int first = 0;  // of W in theta
  bool has_bias = true;

  int recurrence() const { return gates * hidden * features; }

  int biases() const { return recurrence() + gates * hidden * hidden; }

  T of_input(int step, int gate, int j) const {
    const int row = gate * hidden + j;
    T sum = has_bias ? weights(biases() + row) : T(0.0);
    for (int i = 0; i < features; ++i) {
      sum += weights(row * features + i) * x[static_cast<std::size_t>(step * features + i)];
    }
    return sum;
  }

  T of_hidden(const std::vector<T>& h, int gate, int j) const {
    const int row = gate * hidden + j;
    T sum = has_bias ? weights(biases() + (gates * hidden) + row) : T(0.0);
    for (int k = 0; k < hidden; ++k) {
      sum += weights(recurrence() + row * hidden + k) * h[static_cast<std::size_t>(k)];
    }
    return sum;
  }

  T at(int step, const std::vector<T>& h, int gate, int j) const {
    return of_input(step, gate, j) + of_hidden(h, gate, j);
  }
};

std::vector<double> inputs_of_record(const double* record, int count) {
  return {record, record + count};
}

template <typename T>
std::vector<T> as_scalars(const std::vector<double>& x) {
  return {x.begin(), x.end()};
}

// Entry j of a list.
template <typename T>
T& at(std::vector<T>& list, int j) {
  return list[static_cast<std::size_t>(j)];
}

constexpr int kSteps = 2;
constexpr int kHidden = 2;

// X (T, N, 1), and W, R, B of so many gates as parameters.
OperatorFixture& with_sequence(OperatorFixture& op, std::int64_t gates) {
  return op.data_with_axes({{.size = kSteps}, onnx::kBatchAxis, {.size = 1}})
      .parameter({1, gates * kHidden, 1})
      .parameter({1, gates * kHidden, kHidden})
      .parameter({1, 2 * gates * kHidden});
}

TEST(Rnn, RunsForwardAndBack) {
  for (const bool runs_back : {false, true}) {
    OperatorFixture op("RNN");
    with_sequence(op.with("direction", runs_back ? "reverse" : "forward"), 1);
    const onnx::Values results = op.outputs({"y", "h"}).results();
    EXPECT_EQ(text(results[0].axes), "(2, 1, N, 2)");
    EXPECT_EQ(text(results[1].axes), "(1, N, 2)");
    expect_computes(op, results[0], [&](const auto& theta, const double* record) {
      using T = typename std::decay_t<decltype(theta)>::Scalar;
      const auto x = as_scalars<T>(inputs_of_record(record, kSteps));
      const Unit<T> unit{theta, x, 1, 1, kHidden};
      std::vector<T> y(kSteps * kHidden);
      std::vector<T> h(kHidden, T(0.0));
      for (int t = 0; t < kSteps; ++t) {
        const int step = runs_back ? kSteps - 1 - t : t;
        for (int j = 0; j < kHidden; ++j) {
          at(y, step * kHidden + j) = hyperbolic<T>(unit.at(step, h, 0, j));
        }
        h.assign(y.begin() + step * kHidden, y.begin() + (step + 1) * kHidden);
      }
      return y;
    });
  }
}

TEST(Rnn, RunsInBothDirectionsFromInitialStates) {
  // X (T, 2, 1): two sequences that are no batch; W, R, B, h0 of two directions, of one unit.
  OperatorFixture op("RNN");
  op.with("direction", "bidirectional").parameter({2, 2, 1}).parameter({2, 1, 1});
  op.parameter({2, 1, 1}).left_out().left_out().parameter({2, 2, 1});
  const onnx::Values results = op.outputs({"y", "h"}).results();
  EXPECT_EQ(text(results[0].axes), "(2, 2, 2, 1)");
  expect_computes(op, results[0], [](const auto& theta, const double*) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> y(8);
    for (int d = 0; d < 2; ++d) {
      for (int b = 0; b < 2; ++b) {
        T h = theta(8 + 2 * d + b);
        for (int t = 0; t < 2; ++t) {
          const int step = d == 0 ? t : 1 - t;
          h = hyperbolic<T>(theta(4 + d) * theta(2 * step + b) + theta(6 + d) * h);
          at(y, 4 * step + 2 * d + b) = h;
        }
      }
    }
    return y;
  });
}

TEST(Rnn, HasTheBatchInFrontInLayout1) {
  OperatorFixture op("RNN", 14);
  op.with("layout", 1).data({2, 1}).parameter({1, 1, 1}).parameter({1, 1, 1});
  op.left_out().left_out().data({1, 1});
  const onnx::Values results = op.outputs({"y", "h"}).results();
  EXPECT_EQ(text(results[0].axes), "(N, 2, 1, 1)");
  EXPECT_EQ(text(results[1].axes), "(N, 1, 1)");
  expect_computes(op, results[0], [](const auto& theta, const double* r) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    const T first = hyperbolic<T>(theta(0) * T(r[0]) + theta(1) * T(r[2]));
    return std::vector<T>{first, hyperbolic<T>(theta(0) * T(r[1]) + theta(1) * first)};
  });
}

// Weights that do not vary, which keeps the oracle fast.
std::vector<double> fixed_weights(int count) {
  std::vector<double> weights;
  for (int i = 0; i < count; ++i) weights.push_back(0.3 * (i % 5) - 0.5);
  return weights;
}

TEST(Gru, ResetsBeforeOrAfterTheHiddenWeights) {
  constexpr int kRows = 3 * kHidden;
  for (const bool is_linear : {false, true}) {
    OperatorFixture op("GRU");
    op.with("linear_before_reset", is_linear ? 1 : 0);
    op.data_with_axes({{.size = kSteps}, onnx::kBatchAxis, {.size = 1}});
    op.numbers({1, kRows, 1}, fixed_weights(kRows)).parameter({1, kRows, kHidden});
    op.numbers({1, 2 * kRows}, fixed_weights(2 * kRows));
    const onnx::Value y = op.result();
    EXPECT_EQ(text(y.axes), "(2, 1, N, 2)");
    expect_computes(op, y, [&](const auto& theta, const double* record) {
      using T = typename std::decay_t<decltype(theta)>::Scalar;
      const auto x = as_scalars<T>(inputs_of_record(record, kSteps));
      Column<T> all(kRows + theta.size() + 2 * kRows);
      for (int i = 0; i < kRows; ++i) all(i) = T(fixed_weights(kRows)[static_cast<std::size_t>(i)]);
      for (int i = 0; i < theta.size(); ++i) all(kRows + i) = theta(i);
      for (int i = 0; i < 2 * kRows; ++i) {
        all(kRows + theta.size() + i) = T(fixed_weights(2 * kRows)[static_cast<std::size_t>(i)]);
      }
      const Unit<T> unit{all, x, 3, 1, kHidden};
      std::vector<T> y_entries;
      std::vector<T> h(kHidden, T(0.0));
      for (int t = 0; t < kSteps; ++t) {
        std::vector<T> z(kHidden);
        std::vector<T> r(kHidden);
        std::vector<T> gated(kHidden);
        for (int j = 0; j < kHidden; ++j) {
          at(z, j) = logistic<T>(unit.at(t, h, 0, j));
          at(r, j) = logistic<T>(unit.at(t, h, 1, j));
          at(gated, j) = at(r, j) * at(h, j);
        }
        std::vector<T> next(kHidden);
        for (int j = 0; j < kHidden; ++j) {
          const T hidden =
              is_linear ? T(at(r, j) * unit.of_hidden(h, 2, j)) : unit.of_hidden(gated, 2, j);
          const T candidate = hyperbolic<T>(unit.of_input(t, 2, j) + hidden);
          at(next, j) = (T(1.0) - at(z, j)) * candidate + at(z, j) * at(h, j);
        }
        h = next;
        y_entries.insert(y_entries.end(), h.begin(), h.end());
      }
      return y_entries;
    });
  }
}

TEST(Lstm, HasPeepholesAndMayCoupleItsGates) {
  for (const bool couples : {false, true}) {
    OperatorFixture op("LSTM");
    op.with("input_forget", couples ? 1 : 0);
    op.data_with_axes({{.size = 2}, onnx::kBatchAxis, {.size = 1}});
    op.parameter({1, 4, 1}).parameter({1, 4, 1}).left_out().left_out();
    op.left_out().left_out().parameter({1, 3});
    const onnx::Values results = op.outputs({"y", "h", "c"}).results();
    EXPECT_EQ(text(results[0].axes), "(2, 1, N, 1)");
    EXPECT_EQ(text(results[2].axes), "(1, N, 1)");
    expect_computes(op, results[0], [&](const auto& theta, const double* record) {
      using T = typename std::decay_t<decltype(theta)>::Scalar;
      const auto x = as_scalars<T>(inputs_of_record(record, 2));
      const Unit<T> unit{
          .weights = theta, .x = x, .gates = 4, .features = 1, .hidden = 1, .has_bias = false};
      constexpr int kPeepholes = 8;  // of i, o and f
      std::vector<T> y;
      std::vector<T> h(1, T(0.0));
      std::vector<T> c(1, T(0.0));
      for (int t = 0; t < 2; ++t) {
        const T i = logistic<T>(unit.at(t, h, 0, 0) + theta(kPeepholes) * c.front());
        const T own = logistic<T>(unit.at(t, h, 2, 0) + theta(kPeepholes + 2) * c.front());
        const T f = couples ? T(T(1.0) - i) : own;
        c.front() = f * c.front() + i * hyperbolic<T>(unit.at(t, h, 3, 0));
        const T o = logistic<T>(unit.at(t, h, 1, 0) + theta(kPeepholes + 1) * c.front());
        h = {o * hyperbolic<T>(c.front())};
        y.push_back(h.front());
      }
      return y;
    });
  }
}

TEST(Lstm, GoesOnFromInitialStates) {
  OperatorFixture op("LSTM");
  const onnx::Axes state = {{.size = 1}, onnx::kBatchAxis, {.size = 1}};
  op.data_with_axes(state).parameter({1, 4, 1}).parameter({1, 4, 1}).parameter({1, 8});
  op.left_out().data_with_axes(state).data_with_axes(state);
  const onnx::Values results = op.outputs({"y", "h", "c"}).results();
  expect_computes(op, results[2], [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    const auto x = as_scalars<T>(inputs_of_record(record, 1));
    const Unit<T> unit{theta, x, 4, 1, 1};
    const std::vector<T> h = {T(record[1])};
    const T i = logistic<T>(unit.at(0, h, 0, 0));
    const T f = logistic<T>(unit.at(0, h, 2, 0));
    return std::vector<T>{f * T(record[2]) + i * hyperbolic<T>(unit.at(0, h, 3, 0))};
  });
}

// One step of one unit: f(w x) with the activation of this name.
onnx::Value activated(OperatorFixture& op, const std::string& name) {
  op.with("activations", std::vector<std::string>{name});
  op.data_with_axes({{.size = 1}, onnx::kBatchAxis, {.size = 1}});
  return op.parameter({1, 1, 1}).parameter({1, 1, 1}).result();
}

TEST(RecurrentActivation, IsAffineOrHardWithItsNumbers) {
  OperatorFixture affine("RNN");
  affine.with("activation_alpha", std::vector<double>{0.5});
  affine.with("activation_beta", std::vector<double>{2.0});
  const onnx::Value y = activated(affine, "Affine");
  expect_computes(affine, y, [](const auto& w, const double* x) {
    using T = typename std::decay_t<decltype(w)>::Scalar;
    return std::vector<T>{T(0.5) * w(0) * T(x[0]) + T(2.0)};
  });
  OperatorFixture hard("RNN");
  const onnx::Value z = activated(hard, "hardsigmoid");
  expect_computes(hard, z, [](const auto& w, const double* x) {
    using T = typename std::decay_t<decltype(w)>::Scalar;
    return std::vector<T>{T(0.2) * w(0) * T(x[0]) + T(0.5)};  // |w x| < 2.5
  });
}

TEST(RecurrentActivation, HasKinksWhereItsNumbersSay) {
  OperatorFixture leaky("RNN");
  leaky.with("activation_alpha", std::vector<double>{0.25});
  const onnx::Value y = activated(leaky, "LeakyRelu");
  expect_computes(leaky, y, [](const auto& w, const double* x) {
    using T = typename std::decay_t<decltype(w)>::Scalar;
    const T sum = w(0) * T(x[0]);
    return std::vector<T>{sum > 0 ? sum : T(T(0.25) * sum)};
  });
  OperatorFixture thresholded("RNN");
  thresholded.with("activation_alpha", std::vector<double>{-0.1});
  const onnx::Value z = activated(thresholded, "ThresholdedRelu");
  expect_computes(thresholded, z, [](const auto& w, const double* x) {
    using T = typename std::decay_t<decltype(w)>::Scalar;
    const T sum = w(0) * T(x[0]);
    return std::vector<T>{sum > -0.1 ? sum : T(0.0)};
  });
}

TEST(RecurrentActivation, SeesItsInputClipped) {
  OperatorFixture op("RNN");
  op.with("clip", 0.125);
  const onnx::Value y = activated(op, "Softplus");
  expect_computes(op, y, [](const auto& w, const double* x) {
    using T = typename std::decay_t<decltype(w)>::Scalar;
    using std::exp;
    using std::log;
    const T sum = w(0) * T(x[0]);
    const T clipped = sum < -0.125 ? T(-0.125) : sum > 0.125 ? T(0.125) : sum;
    return std::vector<T>{log(T(1.0) + exp(clipped))};
  });
}

TEST(RecurrentActivation, RefusesWhatItDoesNotKnow) {
  OperatorFixture op("RNN");
  expect_refusal<InputError>([&] { activated(op, "Sine"); }, "activation 'Sine' is not known");
  OperatorFixture several("LSTM");
  several.with("activations", std::vector<std::string>{"Tanh"});
  expect_refused(with_sequence(several, 4), "needs 3 activations for each of 1 directions, got 1");
}

TEST(Recurrent, RefusesToRunAlongSamples) {
  OperatorFixture op("RNN");
  op.data({2, 1}).parameter({1, 1, 1}).parameter({1, 1, 1});
  expect_refused(op, "it runs along axis 0 of (N, 2, 1), the batch (N)");
}

TEST(Recurrent, RefusesWeightsAndStatesThatDoNotFit) {
  OperatorFixture weights("GRU");
  expect_refused(with_sequence(weights, 4), "weights (1, 8, 1) and (1, 8, 2) do not fit");
  OperatorFixture state("RNN");
  with_sequence(state, 1).left_out().parameter({1, 1, kHidden});
  expect_refused(state, "an initial state must be of shape (1, N, 2), got (1, 1, 2)");
  OperatorFixture sideways("RNN");
  expect_refused(with_sequence(sideways.with("direction", "sideways"), 1),
                 "direction 'sideways' is not known");
}

}  // namespace
}  // namespace hesscope
