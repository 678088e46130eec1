// SPDX-License-Identifier: BSD-3-Clause
//
// The checks every model passes: derivatives of GraphObjective against the same loss as scalar
// code.
#pragma once

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/models/model.h>
#include <hesscope/objective/graph_objective.h>

#include "support/decompositions.h"
#include "support/gauss_newton_oracle.h"
#include "support/graph_oracle.h"
#include "support/loss_oracle.h"

namespace hesscope::test {

/// Nested Jets of this many directions; models under test have at most so many parameters.
inline constexpr int kNested = 24;

/// Relative to the norm: compared with other double-precision code, and with 50 digits.
inline constexpr double kDoubleTolerance = 1e-13;
inline constexpr double kExactTolerance = 1e-12;

// The scalar losses' own functions, for double, nested Jets and 50-digit numbers.

template <typename T>
T dot(std::span<const T> a, std::span<const T> b) {
  T total(0.0);
  for (std::size_t i = 0; i < a.size(); ++i) total += a[i] * b[i];
  return total;
}

/// weights_j = exp(scores_j) / sum_k exp(scores_k)
template <typename T>
std::vector<T> softmax(const std::vector<T>& scores) {
  using std::exp;
  std::vector<T> weights;
  T total(0.0);
  for (const T& score : scores) {
    weights.push_back(exp(score));
    total += weights.back();
  }
  for (T& weight : weights) weight = weight / total;
  return weights;
}

inline GraphObjective objective_of(const Model& model, const SampleTable& samples) {
  return {model, samples, {.num_threads = 2}};
}

/// A model's two parts as one loss(theta, record).
template <typename Parts>
struct Composed {
  Parts parts;

  template <typename T>
  T operator()(const Column<T>& theta, const double* record) const {
    return parts.loss(parts.prediction(theta, record), record);
  }
};

template <typename Parts>
Composed(Parts) -> Composed<Parts>;

inline Derivatives fifty_digit_tape(const Model& model,
                                    const Eigen::VectorXd& theta,
                                    const SampleTable& samples) {
  const MultiprecisionDerivatives exact =
      multiprecision_derivatives(*model.graph, span_of(theta), records_of(samples));
  return {exact.value, exact.gradient, exact.hessian};
}

/// Central differences of the engine's gradient. The difference quotient at 2 h errs by four times
/// the truncation at h, so the two together predict it; rounding adds eps |g| / h.
inline void expect_matches_gradient_differences(const Objective& objective,
                                                const Eigen::VectorXd& theta) {
  const Eigen::MatrixXd H = objective.hessian(theta);
  const auto quotient = [&](double h) {
    Eigen::MatrixXd D(theta.size(), theta.size());
    for (Eigen::Index j = 0; j < theta.size(); ++j) {
      Eigen::VectorXd step = Eigen::VectorXd::Zero(theta.size());
      step(j) = h;
      D.col(j) = (objective.gradient(theta + step) - objective.gradient(theta - step)) / (2 * h);
    }
    return D;
  };
  const double h = std::ldexp(1.0, -13);
  const Eigen::MatrixXd D = quotient(h);
  const double truncation = (quotient(2 * h) - D).norm();
  const double rounding =
      64 * kEpsilon * (objective.gradient(theta).norm() + std::abs(objective.value(theta))) / h;
  const double error = (D - H).norm();
  EXPECT_TRUE(error <= truncation + rounding) << error << " > " << truncation << " + " << rounding;
  EXPECT_LE(truncation + rounding, 1e-4 * (1 + H.norm())) << "the prediction says nothing";
}

/// The Gauss-Newton matrix against J^T (d2l/dz2) J, sample by sample, and what its definition says.
template <typename Parts>
void expect_exact_gauss_newton(const Model& model,
                               const Parts& parts,
                               const Eigen::VectorXd& theta,
                               const SampleTable& samples) {
  const GraphObjective objective = objective_of(model, samples);
  ASSERT_TRUE(objective.has_gauss_newton());
  const Eigen::MatrixXd G = objective.gauss_newton(theta);
  EXPECT_EQ(G, G.transpose().eval());
  expect_near(G,
              gauss_newton(parts, samples, theta, ByNestedCeres<kNested>{}),
              kDoubleTolerance,
              "J^T L J by nested Jets");
  expect_near(G,
              gauss_newton(parts, samples, theta, ByFiftyDigits{}),
              kExactTolerance,
              "J^T L J by 50-digit differences");
  expect_near(G,
              multiprecision_derivatives(
                  *model.graph, span_of(theta), records_of(samples), Curvature::kGaussNewton)
                  .hessian,
              kExactTolerance,
              "the 50-digit tape");
  const GraphObjective generic(model, samples, {.num_threads = 2, .use_structure = false});
  expect_near(generic.gauss_newton(theta), G, kDoubleTolerance, "the sum by factors");
  const Eigen::MatrixXd V = Numbers(91).table(theta.size(), 9);
  EXPECT_TRUE((objective.gauss_newton_times(theta, V) - G * V).norm() <=
              kDoubleTolerance * G.norm() * V.norm());
  // Every model's loss is convex in its prediction.
  const double smallest = eigenvalues(G).minCoeff<Eigen::PropagateNaN>();
  EXPECT_TRUE(smallest >= -kDoubleTolerance * G.norm()) << smallest;
}

/// Where the loss is smooth: all oracles. `parts` writes the model once more as scalar code:
///   template <typename T> Column<T> prediction(const Column<T>& theta, const double* record)
///   const; template <typename T> T loss(const Column<T>& prediction, const double* record) const;
template <typename Parts>
void expect_exact(const Model& model,
                  const Parts& parts,
                  const Eigen::VectorXd& theta,
                  const SampleTable& samples) {
  ASSERT_EQ(model.num_parameters(), theta.size());
  const MeanLoss mean{Composed{parts}, samples};
  const GraphObjective objective = objective_of(model, samples);
  const Derivatives actual = from_objective(objective, theta);
  expect_near(actual, by_nested_ceres<kNested>(mean, theta), kDoubleTolerance, "nested Jets");
  expect_near(actual, by_fifty_digits(mean, theta), kExactTolerance, "50-digit differences");
  expect_near(actual, fifty_digit_tape(model, theta, samples), kExactTolerance, "50-digit tape");
  expect_matches_gradient_differences(objective, theta);
  expect_exact_gauss_newton(model, parts, theta, samples);
}

}  // namespace hesscope::test
