// SPDX-License-Identifier: BSD-3-Clause
//
// All that the engine says about a graph's derivatives, against three oracles.
#pragma once

#include <cmath>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/sweep.h>

#include "support/gauss_newton_oracle.h"
#include "support/graph_oracle.h"
#include "support/loss_oracle.h"

namespace hesscope {
namespace {

using test::Column;
using test::Dense;

// Two groups of Hessian columns, so that an operand of parameters 0..5 is inactive while 8..11 are
// seeded; and full packs of samples beside a padded one, whatever the lanes.
constexpr int kParameters = 12;
constexpr int kOutputs = 36;  // at most, of an operation
constexpr Eigen::Index kRecord = 12;
constexpr Eigen::Index kSamples = 11;

// A hundred operations, each with a rounding of eps / 2, and some cancellation.
constexpr double kTolerance = 1e-14;

// Further derivatives multiply and cancel more.
constexpr double kThirdTolerance = 1e-13;

double weight(Eigen::Index i, Eigen::Index j) {
  return 1.25 + 0.5 * std::sin(static_cast<double>(1 + 3 * i + 5 * j));
}

// sum_ij w_ij (m_ij + m_ij^2): curved, and every entry counts differently.
Var readout(Var m) {
  const Eigen::MatrixXd weights = Eigen::MatrixXd::NullaryExpr(
      m.rows(), m.cols(), [](Eigen::Index i, Eigen::Index j) { return weight(i, j); });
  return sum(hadamard(m.graph().constant(weights), m + square(m)));
}

template <typename T>
T readout(const Dense<T>& m) {
  T total(0.0);
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    for (Eigen::Index j = 0; j < m.cols(); ++j) {
      total += T(weight(i, j)) * (m(i, j) + m(i, j) * m(i, j));
    }
  }
  return total;
}

// Entries [offset, offset + rows * cols) as a matrix, row-major.
template <typename T, typename Source>
Dense<T> matrix(const Source& source, Eigen::Index offset, Eigen::Index rows, Eigen::Index cols) {
  Dense<T> m(rows, cols);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index j = 0; j < cols; ++j) m(i, j) = T(source[offset + i * cols + j]);
  }
  return m;
}

// The constant operand of these tests.
Eigen::MatrixXd constant(Eigen::Index rows, Eigen::Index cols) {
  return Eigen::MatrixXd::NullaryExpr(rows, cols, [](Eigen::Index i, Eigen::Index j) {
    return std::cos(static_cast<double>(2 + 7 * i + 3 * j));
  });
}

// The matrix that an operation gives as a prediction, its readout as the loss of that.
template <typename Output>
struct Readout {
  Output output;
  Eigen::Index rows;
  Eigen::Index cols;

  template <typename T>
  Column<T> prediction(const Column<T>& theta, const double* record) const {
    const Dense<T> m = output(theta, record);
    Column<T> z(rows * cols);
    for (Eigen::Index e = 0; e < z.size(); ++e) z(e) = m(e / cols, e % cols);
    return z;
  }

  template <typename T>
  T loss(const Column<T>& z, const double* /*record*/) const {
    return readout(matrix<T>(z.data(), 0, rows, cols));
  }
};

// Compares all the engine says about the graph with three oracles. `output(theta, record)` gives
// the matrix that `record_output(graph)` records; their readouts are the loss.
template <typename RecordOutput, typename Output>
void expect_derivatives(RecordOutput record_output, Output output) {
  Graph graph;
  const Var z = record_output(graph);
  graph.set_prediction(z);
  graph.set_output(readout(z));
  ASSERT_LE(graph.num_parameters(), kParameters);
  ASSERT_LE(graph.record_size(), kRecord);
  test::Numbers numbers(20);
  const Eigen::VectorXd theta = numbers.vector(graph.num_parameters());
  const SampleTable samples = numbers.table(kSamples, kRecord);
  const test::MeanLoss mean{
      [&](const auto& point, const double* entries) { return readout(output(point, entries)); },
      samples};

  const test::Derivatives actual = test::from_sweep(graph, theta, samples);
  test::expect_near(
      actual, test::by_nested_ceres<kParameters>(mean, theta), kTolerance, "nested Jets");
  test::expect_near(actual, test::by_fifty_digits(mean, theta), kTolerance, "50-digit differences");
  const MultiprecisionDerivatives exact =
      multiprecision_derivatives(graph, test::span_of(theta), test::records_of(samples));
  test::expect_near(
      actual, {exact.value, exact.gradient, exact.hessian}, kTolerance, "the 50-digit tape");

  for (const int width : {1, 3}) {
    test::expect_near(
        test::from_sweep(graph, theta, samples, width), actual, kTolerance, "width 8");
  }
  // H V, all parameters seeded at once.
  const Eigen::Index n = theta.size();
  constexpr int kDirections = 3;
  const SampleTable v = numbers.table(n, kDirections);
  SampleTable product = SampleTable::Zero(n, kDirections);
  Sweep::create(graph)->hessian_times(test::span_of(theta),
                                      test::records_of(samples),
                                      {v.data(), static_cast<std::size_t>(v.size())},
                                      kDirections,
                                      {product.data(), static_cast<std::size_t>(product.size())});
  product /= static_cast<double>(kSamples);
  EXPECT_TRUE((product - actual.hessian * v).norm() <=
              kTolerance * actual.hessian.norm() * v.norm());

  // One sweep of pairs, and a pair beside it.
  constexpr int kPairs = ThirdOrderSweep::kMaxPairs + 1;
  const Eigen::MatrixXd left = numbers.table(n, kPairs);
  const Eigen::MatrixXd right = numbers.table(n, kPairs);
  const Eigen::MatrixXd T = test::third_derivatives_from_sweep(graph, theta, samples, left, right);
  test::expect_near_columns(
      T.leftCols(2),
      test::third_derivatives_by_fifty_digits(mean, theta, left.leftCols(2), right.leftCols(2)),
      kThirdTolerance,
      "50-digit differences of the loss");
  test::expect_near_columns(
      T,
      multiprecision_third_derivative_times(
          graph, test::span_of(theta), test::records_of(samples), left, right),
      kThirdTolerance,
      "differences of the 50-digit tape");
  test::expect_near_columns(
      test::third_derivatives_from_sweep(graph, theta, samples, left, right, 1),
      T,
      kThirdTolerance,
      "width 4");

  // The same directions as lines.
  const Eigen::MatrixXd lines = test::line_derivatives_from_sweep(graph, theta, samples, left);
  test::expect_near_rows(lines.leftCols(2),
                         test::line_derivatives_by_fifty_digits(mean, theta, left.leftCols(2)),
                         kThirdTolerance,
                         "50-digit differences of the loss");
  test::expect_near_rows(
      lines,
      multiprecision_line_derivatives(graph, test::span_of(theta), test::records_of(samples), left),
      kThirdTolerance,
      "differences of the 50-digit tape");

  // The operation as the prediction: its first derivatives enter and its second must not.
  const Readout<Output> parts{output, z.rows(), z.cols()};
  const auto gauss_newton = [&](int width) {
    return test::from_sweep(graph, theta, samples, width, Curvature::kGaussNewton).hessian;
  };
  const Eigen::MatrixXd G = gauss_newton(8);
  test::expect_near(
      G,
      test::gauss_newton(parts, samples, theta, test::ByNestedCeres<kParameters, kOutputs>{}),
      kTolerance,
      "J^T L J by nested Jets");
  test::expect_near(G,
                    test::gauss_newton(parts, samples, theta, test::ByFiftyDigits{}),
                    kTolerance,
                    "J^T L J by 50-digit differences");
  for (const int width : {1, 3}) test::expect_near(gauss_newton(width), G, kTolerance, "width 8");
}

// A unary operation on 3 x 4 parameters, all twelve.
template <typename Recorded, typename Scalar>
void expect_unary(Recorded recorded, Scalar scalar) {
  expect_derivatives([&](Graph& g) { return recorded(g.parameter(0, 3, 4)); },
                     [&](const auto& theta, const double* /*record*/) {
                       using T = typename std::decay_t<decltype(theta)>::Scalar;
                       return Dense<T>(scalar(matrix<T>(theta, 0, 3, 4)));
                     });
}

template <typename M, typename F>
M entrywise(M m, F f) {
  for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = f(m.data()[i]);
  return m;
}

}  // namespace
}  // namespace hesscope
