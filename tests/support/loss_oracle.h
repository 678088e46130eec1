// SPDX-License-Identifier: BSD-3-Clause
//
// Derivatives of a recorded graph, and of the same loss written once more as plain scalar code:
//
//   struct Loss { template <typename T> T operator()(const Column<T>& theta, const double* record);
//   }; const MeanLoss mean{Loss{}, samples}; expect_near(from_sweep(graph, theta, samples),
//   by_nested_ceres<24>(mean, theta), 1e-13); expect_near(from_sweep(graph, theta, samples),
//   by_fifty_digits(mean, theta), 1e-13);
//
// Neither oracle shares a line with the tape: the first is Ceres' own arithmetic, the second takes
// central differences on 50-digit numbers and needs no derivative rule at all (but no kinks).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/sweep.h>
#include <hesscope/autodiff/third_order_sweep.h>
#include <hesscope/objective/objective.h>
#include <hesscope/objective/sample_table.h>

#include "support/derivative_oracle.h"

namespace hesscope::test {

template <typename T>
using Column = Eigen::Matrix<T, Eigen::Dynamic, 1>;

template <typename T>
using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

/// Reproducible numbers, uniform in (-1, 1): splitmix64.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}

  double next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    z ^= z >> 31;
    return std::ldexp(static_cast<double>(z >> 11) + 0.5, -52) - 1.0;
  }

  SampleTable table(Eigen::Index rows, Eigen::Index cols) {
    SampleTable result(rows, cols);
    for (Eigen::Index i = 0; i < result.size(); ++i) result.data()[i] = next();
    return result;
  }

  Eigen::VectorXd vector(Eigen::Index size) { return table(size, 1); }

 private:
  std::uint64_t state_;
};

inline std::span<const double> span_of(const Eigen::VectorXd& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}

inline Records records_of(const SampleTable& samples) {
  return {samples.data(), samples.rows(), samples.cols()};
}

struct Derivatives {
  double value;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd hessian;
};

/// The mean over sample records of loss(theta, record).
template <typename Loss>
struct MeanLoss {
  Loss loss;
  SampleTable samples;

  template <typename T>
  T operator()(const Column<T>& theta) const {
    T total(0.0);
    for (Eigen::Index i = 0; i < samples.rows(); ++i) {
      total += loss(theta, samples.data() + i * samples.cols());
    }
    return total / T(static_cast<double>(samples.rows()));
  }
};

template <typename Loss>
MeanLoss(Loss, SampleTable) -> MeanLoss<Loss>;

/// By Jet<Jet<double, N>, N>, for at most N parameters.
template <int N, typename F>
Derivatives by_nested_ceres(const F& f, const Eigen::VectorXd& x) {
  const Eigen::Index n = x.size();
  EXPECT_LE(n, N);
  Column<NestedCeres<N>> at(n);
  for (int i = 0; i < n; ++i) at(i) = NestedCeres<N>::variable(x(i), i);
  const NestedCeres<N> y = f(at);
  Derivatives result{y.jet.a.a, Eigen::VectorXd(n), Eigen::MatrixXd(n, n)};
  for (int i = 0; i < n; ++i) {
    result.gradient(i) = y.jet.v(i).a;
    for (int j = 0; j < n; ++j) result.hessian(i, j) = y.jet.v(i).v(j);
  }
  return result;
}

/// By central differences of 50-digit numbers, good to some 20 digits where f is smooth.
template <typename F>
Derivatives by_fifty_digits(const F& f, const Eigen::VectorXd& x) {
  const CentralDifferences<Real50> differences(f, x, Real50("1e-12"));
  const Column<Real50> at = x.cast<Real50>();
  return {static_cast<double>(f(at)), differences.gradient, differences.hessian};
}

inline Derivatives from_objective(const Objective& objective, const Eigen::VectorXd& theta) {
  auto [value, gradient] = objective.value_and_gradient(theta, objective.all_samples());
  return {value, std::move(gradient), objective.hessian(theta)};
}

/// The mean over the samples by the graph engine, `width` columns of the Hessian or of another
/// curvature at a time.
inline Derivatives from_sweep(const Graph& graph,
                              const Eigen::VectorXd& theta,
                              const SampleTable& samples,
                              int width = Sweep::kMaxDirections,
                              Curvature curvature = Curvature::kHessian) {
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

/// T[u_k, v_k] of the mean over the samples by the graph engine, `width` pairs at a time.
inline Eigen::MatrixXd third_derivatives_from_sweep(const Graph& graph,
                                                    const Eigen::VectorXd& theta,
                                                    const SampleTable& samples,
                                                    const Eigen::MatrixXd& u,
                                                    const Eigen::MatrixXd& v,
                                                    int width = ThirdOrderSweep::kMaxPairs,
                                                    InstructionSet set = best_instruction_set()) {
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

/// T[u_k, v_k] by central differences of f on 50-digit numbers, good to some 18 digits where f is
/// smooth.
template <typename F>
Eigen::MatrixXd third_derivatives_by_fifty_digits(const F& f,
                                                  const Eigen::VectorXd& x,
                                                  const Eigen::MatrixXd& u,
                                                  const Eigen::MatrixXd& v) {
  const Real50 h("1e-10");
  Eigen::MatrixXd result(u.rows(), u.cols());
  for (Eigen::Index k = 0; k < u.cols(); ++k) {
    const Column<Real50> along_u = h * u.col(k).cast<Real50>();
    const Column<Real50> along_v = h * v.col(k).cast<Real50>();
    for (Eigen::Index i = 0; i < u.rows(); ++i) {
      Real50 total = 0;
      for (const int a : {1, -1}) {
        for (const int b : {1, -1}) {
          for (const int c : {1, -1}) {
            Column<Real50> at = x.cast<Real50>();
            for (Eigen::Index j = 0; j < at.size(); ++j) at(j) += b * along_u(j) + c * along_v(j);
            at(i) += a * h;
            total += a * b * c * f(at);
          }
        }
      }
      result(i, k) = static_cast<double>(Real50(total / (8 * h * h * h)));
    }
  }
  return result;
}

/// Columns of T[u_k, v_k], each within `tolerance` of its expected norm; the floor as below.
inline void expect_near_columns(const Eigen::MatrixXd& actual,
                                const Eigen::MatrixXd& expected,
                                double tolerance,
                                const std::string& oracle,
                                double floor = 1e-17) {
  ASSERT_EQ(actual.rows(), expected.rows());
  ASSERT_EQ(actual.cols(), expected.cols());
  for (Eigen::Index k = 0; k < actual.cols(); ++k) {
    const double error = (actual.col(k) - expected.col(k)).norm();
    EXPECT_TRUE(error <= tolerance * expected.col(k).norm() + floor)
        << "column " << k << " against " << oracle << ": error " << error << ", norm "
        << expected.col(k).norm();
  }
}

/// Each within `tolerance` of its expected norm. The floor lets an oracle's rounding of an exact
/// zero pass.
inline void expect_near(const Derivatives& actual,
                        const Derivatives& expected,
                        double tolerance,
                        const std::string& oracle) {
  constexpr double kFloor = 1e-20;
  EXPECT_TRUE(std::abs(actual.value - expected.value) <=
              tolerance * std::abs(expected.value) + kFloor)
      << "value against " << oracle << ": " << actual.value << ", expected " << expected.value;
  ASSERT_EQ(actual.gradient.size(), expected.gradient.size());
  const double gradient_error = (actual.gradient - expected.gradient).norm();
  EXPECT_TRUE(gradient_error <= tolerance * expected.gradient.norm() + kFloor)
      << "gradient against " << oracle << ": error " << gradient_error << ", norm "
      << expected.gradient.norm();
  ASSERT_EQ(actual.hessian.rows(), expected.hessian.rows());
  ASSERT_EQ(actual.hessian.cols(), expected.hessian.cols());
  const double hessian_error = (actual.hessian - expected.hessian).norm();
  EXPECT_TRUE(hessian_error <= tolerance * expected.hessian.norm() + kFloor)
      << "Hessian against " << oracle << ": error " << hessian_error << ", norm "
      << expected.hessian.norm();
}

}  // namespace hesscope::test
