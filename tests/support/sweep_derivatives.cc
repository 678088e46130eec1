// SPDX-License-Identifier: BSD-3-Clause
#include "support/sweep_derivatives.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace hesscope::test {
namespace {

constexpr double kFloor = 1e-20;

}  // namespace

Derivatives from_objective(const Objective& objective, const Eigen::VectorXd& theta) {
  auto [value, gradient] = objective.value_and_gradient(theta, objective.all_samples());
  return {value, std::move(gradient), objective.hessian(theta)};
}

Derivatives from_sweep(const Graph& graph,
                       const Eigen::VectorXd& theta,
                       const SampleTable& samples,
                       int width,
                       Curvature curvature) {
  const auto sweep = Sweep::create(graph);
  const Records records = records_of(samples);
  const Eigen::Index n = theta.size();
  const auto count = static_cast<double>(records.count);
  Derivatives result{0, Eigen::VectorXd::Zero(n), Eigen::MatrixXd(n, n)};
  result.value = sweep->value_and_gradient(
                     span_of(theta),
                     records,
                     {result.gradient.data(), static_cast<std::size_t>(result.gradient.size())}) /
                 count;
  result.gradient /= count;
  for (Eigen::Index first = 0; first < n; first += width) {
    const int columns = static_cast<int>(std::min<Eigen::Index>(width, n - first));
    std::vector<double> block(static_cast<std::size_t>((n - first) * columns));
    sweep->curvature_columns(curvature, span_of(theta), records, first, columns, block);
    for (int k = 0; k < columns; ++k) {
      for (Eigen::Index i = first + k; i < n; ++i) {
        const double entry = block[static_cast<std::size_t>((i - first) * columns + k)] / count;
        result.hessian(i, first + k) = result.hessian(first + k, i) = entry;
      }
    }
  }
  return result;
}

Eigen::MatrixXd third_derivatives_from_sweep(const Graph& graph,
                                             const Eigen::VectorXd& theta,
                                             const SampleTable& samples,
                                             const Eigen::MatrixXd& u,
                                             const Eigen::MatrixXd& v,
                                             int width,
                                             InstructionSet set) {
  const auto sweep = ThirdOrderSweep::create(graph, set);
  Eigen::MatrixXd result(u.rows(), u.cols());
  for (Eigen::Index first = 0; first < u.cols(); first += width) {
    const Eigen::Index pairs = std::min<Eigen::Index>(width, u.cols() - first);
    const SampleTable left = u.middleCols(first, pairs);
    const SampleTable right = v.middleCols(first, pairs);
    SampleTable block = SampleTable::Zero(u.rows(), pairs);
    const auto size = static_cast<std::size_t>(block.size());
    sweep->third_derivative_times(
        span_of(theta),
        records_of(samples),
        {{left.data(), size}, {right.data(), size}, static_cast<int>(pairs)},
        {block.data(), size});
    result.middleCols(first, pairs) = block / static_cast<double>(samples.rows());
  }
  return result;
}

Eigen::MatrixXd line_derivatives_from_sweep(const Graph& graph,
                                            const Eigen::VectorXd& theta,
                                            const SampleTable& samples,
                                            const Eigen::MatrixXd& v,
                                            int width,
                                            InstructionSet set) {
  const auto sweep = LineSweep::create(graph, set);
  Eigen::MatrixXd result(LineSweep::kOrder + 1, v.cols());
  for (Eigen::Index first = 0; first < v.cols(); first += width) {
    const Eigen::Index lines = std::min<Eigen::Index>(width, v.cols() - first);
    const SampleTable directions = v.middleCols(first, lines);
    SampleTable block = SampleTable::Zero(result.rows(), lines);
    sweep->line_derivatives(span_of(theta),
                            records_of(samples),
                            {directions.data(), static_cast<std::size_t>(directions.size())},
                            static_cast<int>(lines),
                            {block.data(), static_cast<std::size_t>(block.size())});
    result.middleCols(first, lines) = block / static_cast<double>(samples.rows());
  }
  return result;
}

void expect_near_columns(const Eigen::MatrixXd& actual,
                         const Eigen::MatrixXd& expected,
                         double tolerance,
                         const std::string& oracle,
                         double floor) {
  ASSERT_EQ(actual.rows(), expected.rows());
  ASSERT_EQ(actual.cols(), expected.cols());
  for (Eigen::Index k = 0; k < actual.cols(); ++k) {
    const double error = (actual.col(k) - expected.col(k)).norm();
    EXPECT_TRUE(error <= tolerance * expected.col(k).norm() + floor)
        << "column " << k << " against " << oracle << ": error " << error << ", norm "
        << expected.col(k).norm();
  }
}

void expect_near_rows(const Eigen::MatrixXd& actual,
                      const Eigen::MatrixXd& expected,
                      double tolerance,
                      const std::string& oracle,
                      double floor) {
  expect_near_columns(actual.transpose(), expected.transpose(), tolerance, oracle, floor);
}

void expect_near(const Derivatives& actual,
                 const Derivatives& expected,
                 double tolerance,
                 const std::string& oracle) {
  EXPECT_TRUE(std::abs(actual.value - expected.value) <=
              tolerance * std::abs(expected.value) + kFloor)
      << "value against " << oracle << ": " << actual.value << ", expected " << expected.value;
  ASSERT_EQ(actual.gradient.size(), expected.gradient.size());
  const double gradient_error = (actual.gradient - expected.gradient).norm();
  EXPECT_TRUE(gradient_error <= tolerance * expected.gradient.norm() + kFloor)
      << "gradient against " << oracle << ": error " << gradient_error << ", norm "
      << expected.gradient.norm();
  expect_near(actual.hessian, expected.hessian, tolerance, "Hessian against " + oracle);
}

void expect_near(const Eigen::MatrixXd& actual,
                 const Eigen::MatrixXd& expected,
                 double tolerance,
                 const std::string& oracle) {
  ASSERT_EQ(actual.rows(), expected.rows());
  ASSERT_EQ(actual.cols(), expected.cols());
  const double error = (actual - expected).norm();
  EXPECT_TRUE(error <= tolerance * expected.norm() + kFloor)
      << oracle << ": error " << error << ", norm " << expected.norm();
}

}  // namespace hesscope::test
