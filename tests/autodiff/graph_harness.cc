// SPDX-License-Identifier: BSD-3-Clause
#include "graph_harness.h"

#include <cmath>

#include <gtest/gtest.h>

#include <hesscope/autodiff/sweep.h>

#include "support/gauss_newton_oracle.h"
#include "support/graph_oracle.h"
#include "support/loss_oracle.h"

namespace hesscope::test {
namespace {

constexpr int kOutputs = 36;  // at most, of an operation

// Further derivatives multiply and cancel more.
constexpr double kThirdTolerance = 1e-13;

double weight(Eigen::Index i, Eigen::Index j) {
  return 1.25 + 0.5 * std::sin(static_cast<double>(1 + 3 * i + 5 * j));
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

// The matrix that an operation gives as a prediction, its readout as the loss of that.
struct Readout {
  const ScalarOperation& output;
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

}  // namespace

Eigen::MatrixXd constant(Eigen::Index rows, Eigen::Index cols) {
  return Eigen::MatrixXd::NullaryExpr(rows, cols, [](Eigen::Index i, Eigen::Index j) {
    return std::cos(static_cast<double>(2 + 7 * i + 3 * j));
  });
}

Var readout(Var m) {
  const Eigen::MatrixXd weights = Eigen::MatrixXd::NullaryExpr(
      m.rows(), m.cols(), [](Eigen::Index i, Eigen::Index j) { return weight(i, j); });
  return sum(hadamard(m.graph().constant(weights), m + square(m)));
}

void expect_derivatives(const std::function<Var(Graph&)>& record_output,
                        const ScalarOperation& output) {
  Graph graph;
  const Var z = record_output(graph);
  graph.set_prediction(z);
  graph.set_output(readout(z));
  ASSERT_LE(graph.num_parameters(), kParameters);
  ASSERT_LE(graph.record_size(), kRecord);
  Numbers numbers(20);
  const Eigen::VectorXd theta = numbers.vector(graph.num_parameters());
  const SampleTable samples = numbers.table(kSamples, kRecord);
  const MeanLoss mean{
      [&](const auto& point, const double* entries) { return readout(output(point, entries)); },
      samples};

  const Derivatives actual = from_sweep(graph, theta, samples);
  expect_near(actual, by_nested_ceres<kParameters>(mean, theta), kGraphTolerance, "nested Jets");
  expect_near(actual, by_fifty_digits(mean, theta), kGraphTolerance, "50-digit differences");
  const MultiprecisionDerivatives exact =
      multiprecision_derivatives(graph, span_of(theta), records_of(samples));
  expect_near(
      actual, {exact.value, exact.gradient, exact.hessian}, kGraphTolerance, "the 50-digit tape");

  for (const int width : {1, 3}) {
    expect_near(from_sweep(graph, theta, samples, width), actual, kGraphTolerance, "width 8");
  }
  // H V, all parameters seeded at once.
  const Eigen::Index n = theta.size();
  constexpr int kDirections = 3;
  const SampleTable v = numbers.table(n, kDirections);
  SampleTable product = SampleTable::Zero(n, kDirections);
  Sweep::create(graph)->hessian_times(span_of(theta),
                                      records_of(samples),
                                      {v.data(), static_cast<std::size_t>(v.size())},
                                      kDirections,
                                      {product.data(), static_cast<std::size_t>(product.size())});
  product /= static_cast<double>(kSamples);
  EXPECT_TRUE((product - actual.hessian * v).norm() <=
              kGraphTolerance * actual.hessian.norm() * v.norm());

  // A full sweep of pairs, and one further pair.
  constexpr int kPairs = ThirdOrderSweep::kMaxPairs + 1;
  const Eigen::MatrixXd left = numbers.table(n, kPairs);
  const Eigen::MatrixXd right = numbers.table(n, kPairs);
  const Eigen::MatrixXd T = third_derivatives_from_sweep(graph, theta, samples, left, right);
  expect_near_columns(
      T.leftCols(2),
      third_derivatives_by_fifty_digits(mean, theta, left.leftCols(2), right.leftCols(2)),
      kThirdTolerance,
      "50-digit differences of the loss");
  expect_near_columns(T,
                      multiprecision_third_derivative_times(
                          graph, span_of(theta), records_of(samples), left, right),
                      kThirdTolerance,
                      "differences of the 50-digit tape");
  expect_near_columns(third_derivatives_from_sweep(graph, theta, samples, left, right, 1),
                      T,
                      kThirdTolerance,
                      "width 4");

  // The same directions as lines.
  const Eigen::MatrixXd lines = line_derivatives_from_sweep(graph, theta, samples, left);
  expect_near_rows(lines.leftCols(2),
                   line_derivatives_by_fifty_digits(mean, theta, left.leftCols(2)),
                   kThirdTolerance,
                   "50-digit differences of the loss");
  expect_near_rows(
      lines,
      multiprecision_line_derivatives(graph, span_of(theta), records_of(samples), left),
      kThirdTolerance,
      "differences of the 50-digit tape");

  // The operation as the prediction: its first derivatives enter and its second must not.
  const Readout parts{output, z.rows(), z.cols()};
  const auto swept_gauss_newton = [&](int width) {
    return from_sweep(graph, theta, samples, width, Curvature::kGaussNewton).hessian;
  };
  const Eigen::MatrixXd G = swept_gauss_newton(8);
  expect_near(G,
              gauss_newton(parts, samples, theta, ByNestedCeres<kParameters, kOutputs>{}),
              kGraphTolerance,
              "J^T L J by nested Jets");
  expect_near(G,
              gauss_newton(parts, samples, theta, ByFiftyDigits{}),
              kGraphTolerance,
              "J^T L J by 50-digit differences");
  for (const int width : {1, 3})
    expect_near(swept_gauss_newton(width), G, kGraphTolerance, "width 8");
}

}  // namespace hesscope::test
