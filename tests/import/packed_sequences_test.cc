// SPDX-License-Identifier: BSD-3-Clause
//
// Sequences of lengths that the data tell, as packed ones are exported, against loops that stop
// where a sequence ends.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/autodiff/sweep.h>

#include "import/data_indices.h"
#include "import/gate_functions.h"
#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using onnx::text;
using test::add_indices;
using test::expect_computes;
using test::expect_refused;
using test::hyperbolic;
using test::index_at;
using test::logistic;
using test::OperatorFixture;

constexpr int kLongest = 3;
constexpr onnx::Axis kSingle = {.size = 1};

template <typename T>
struct States {
  std::vector<T> y;  // by step and direction, 0 behind a sequence's end
  std::vector<T> last;
};

// An RNN of one unit in both directions: W, R and h0 of each in theta, x in the record, and the
// length, of 0 to kLongest, behind it.
template <typename Column>
auto bidirectional(const Column& theta, const double* record) {
  using T = typename std::decay_t<decltype(theta)>::Scalar;
  const auto length = static_cast<int>(index_at(record[kLongest], kLongest + 1));
  States<T> states{.y = std::vector<T>(2 * kLongest, T(0.0)), .last = {}};
  for (int d = 0; d < 2; ++d) {
    T h = theta(4 + d);
    for (int k = 0; k < length; ++k) {
      const int step = d == 0 ? k : length - 1 - k;
      h = hyperbolic<T>(theta(d) * T(record[step]) + theta(2 + d) * h);
      states.y[static_cast<std::size_t>(2 * step + d)] = h;
    }
    states.last.push_back(h);
  }
  return states;
}

TEST(PackedSequences, EndWhereTheDataSay) {
  for (const bool is_last : {false, true}) {
    OperatorFixture op("RNN");
    op.with("direction", "bidirectional")
        .data_with_axes({{.size = kLongest}, onnx::kBatchAxis, kSingle});
    op.parameter({2, 1, 1}).parameter({2, 1, 1}).left_out();
    add_indices(op, {}, kLongest + 1);
    // Initial states of parameters, the same for all samples.
    const Var start = op.graph().parameter(4, 2, 1);
    op.value({.axes = {{.size = 2}, onnx::kBatchAxis, kSingle}, .var = start});
    const onnx::Values results = op.outputs({"y", "h"}).results();
    EXPECT_EQ(text(results[0].axes), "(3, 2, N, 1)");
    EXPECT_EQ(text(results[1].axes), "(2, N, 1)");
    expect_computes(op, results[is_last ? 1 : 0], [&](const auto& theta, const double* record) {
      const auto states = bidirectional(theta, record);
      return is_last ? states.last : states.y;
    });
  }
}

// The cell, too, is the last step's of the sequence.
TEST(PackedSequences, LeaveCellsAsTheyEnd) {
  OperatorFixture op("LSTM");
  op.data_with_axes({{.size = kLongest}, onnx::kBatchAxis, kSingle});
  op.parameter({1, 4, 1}).parameter({1, 4, 1}).left_out();
  add_indices(op, {}, kLongest + 1);
  const onnx::Values results = op.outputs({"y", "h", "c"}).results();
  expect_computes(op, results[2], [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    T h(0.0);
    T c(0.0);
    for (int t = 0; t < index_at(record[kLongest], kLongest + 1); ++t) {
      const auto gate = [&](int k) { return T(theta(k) * T(record[t]) + theta(4 + k) * h); };
      const T o = logistic<T>(gate(1));
      c = logistic<T>(gate(2)) * c + logistic<T>(gate(0)) * hyperbolic<T>(gate(3));
      h = o * hyperbolic<T>(c);
    }
    return std::vector<T>{c};
  });
}

TEST(PackedSequences, OfALengthThatIsNoneAreNotANumber) {
  OperatorFixture op("RNN");
  op.data_with_axes({{.size = kLongest}, onnx::kBatchAxis, kSingle});
  op.numbers({1, 1, 1}, {1}).numbers({1, 1, 1}, {0.5}).left_out();
  const Var told = op.graph().input(kLongest, 1, 1);
  op.value({.kind = onnx::ElementKind::kInteger, .axes = {onnx::kBatchAxis}, .var = told});
  const onnx::Value last = op.outputs({"y", "h"}).results()[1];
  op.graph().set_prediction(*last.var);
  op.graph().set_output(*last.var);
  SampleTable samples(4, kLongest + 1);
  samples << 1, 2, 3, 0,      //
      1, 2, 3, kLongest,      //
      1, 2, 3, kLongest + 1,  //
      1, 2, 3, -1;
  std::vector<double> states(4);
  Sweep::create(op.graph())->predictions({}, test::records_of(samples), states);
  EXPECT_EQ(states[0], 0);
  EXPECT_NEAR(states[1], std::tanh(3 + 0.5 * std::tanh(2 + 0.5 * std::tanh(1))), 1e-15);
  EXPECT_TRUE(std::isnan(states[2]));
  EXPECT_TRUE(std::isnan(states[3]));
}

TEST(PackedSequences, HaveALengthForEachSample) {
  OperatorFixture op("RNN");
  op.data_with_axes({{.size = kLongest}, onnx::kBatchAxis, kSingle});
  op.parameter({1, 1, 1}).parameter({1, 1, 1}).left_out().integers({1}, {kLongest - 1});
  expect_refused(op, "the lengths of sequences must be of shape (N,), got (1,)");
}

// Initial states as PyTorch writes them: of the batch that was exported.
TEST(PackedSequences, BeginWithStatesThatAreTheSameForAll) {
  OperatorFixture op("Expand");
  op.numbers({2, 3, 1}, {0.5, 0.5, 0.5, -2, -2, -2}).integers({3}, {2, 0, 1}, {0, 1, 0});
  const onnx::Value states = op.result();
  EXPECT_EQ(text(states.axes), "(2, N, 1)");
  expect_computes(op, states, [](const auto& theta, const double*) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return std::vector<T>{T(0.5), T(-2.0)};
  });
  OperatorFixture other("Expand");
  other.numbers({1, 2, 1}, {0, 1}).integers({3}, {1, 0, 1}, {0, 1, 0});
  expect_refused(other, "let samples meet other things than themselves");
  OperatorFixture parameters("Expand");
  parameters.parameter({1, 2, 1}).integers({3}, {1, 0, 1}, {0, 1, 0});
  expect_refused(parameters, "let samples meet other things than themselves");
}

}  // namespace
}  // namespace hesscope
