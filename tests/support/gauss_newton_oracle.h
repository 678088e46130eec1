// SPDX-License-Identifier: BSD-3-Clause
//
// The Gauss-Newton matrix (1/N) sum_i J_i^T L_i J_i, L_i = d2l_i/dz2, as it is defined: from a
// model's prediction and loss written once more as plain scalar code (model_oracle.h), the Jacobian
// by one method or another, and the product by matrices.
#pragma once

#include <string>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include "support/loss_oracle.h"

namespace hesscope::test {

/// A sample's prediction z and its Jacobian.
struct Linearisation {
  Eigen::VectorXd z;
  Eigen::MatrixXd J;
};

/// By Jet<Jet<double, N>, N>, for at most N parameters and M outputs.
template <int N, int M = N>
struct ByNestedCeres {
  template <typename F>
  Linearisation linearise(const F& prediction, const Eigen::VectorXd& theta) const {
    Column<NestedCeres<N>> at(theta.size());
    for (int i = 0; i < theta.size(); ++i) at(i) = NestedCeres<N>::variable(theta(i), i);
    const Column<NestedCeres<N>> z = prediction(at);
    Linearisation result{Eigen::VectorXd(z.size()), Eigen::MatrixXd(z.size(), theta.size())};
    for (Eigen::Index k = 0; k < z.size(); ++k) {
      result.z(k) = z(k).jet.a.a;
      for (int j = 0; j < theta.size(); ++j) result.J(k, j) = z(k).jet.v(j).a;
    }
    return result;
  }

  template <typename F>
  Eigen::MatrixXd hessian(const F& loss, const Eigen::VectorXd& z) const {
    return by_nested_ceres<M>(loss, z).hessian;
  }
};

/// By central differences of 50-digit numbers: no rule of differentiation, but smooth points only.
struct ByFiftyDigits {
  template <typename F>
  Linearisation linearise(const F& prediction, const Eigen::VectorXd& theta) const {
    const Real50 h("1e-12");
    Column<Real50> at = theta.cast<Real50>();
    const Column<Real50> z = prediction(at);
    Linearisation result{z.cast<double>(), Eigen::MatrixXd(z.size(), theta.size())};
    for (Eigen::Index j = 0; j < theta.size(); ++j) {
      const Real50 keep = at(j);
      at(j) = keep + h;
      const Column<Real50> above = prediction(at);
      at(j) = keep - h;
      const Column<Real50> below = prediction(at);
      at(j) = keep;
      for (Eigen::Index k = 0; k < z.size(); ++k) {
        result.J(k, j) = static_cast<double>(Real50((above(k) - below(k)) / (2 * h)));
      }
    }
    return result;
  }

  template <typename F>
  Eigen::MatrixXd hessian(const F& loss, const Eigen::VectorXd& z) const {
    return by_fifty_digits(loss, z).hessian;
  }
};

template <typename Parts, typename Method>
Eigen::MatrixXd gauss_newton(const Parts& parts,
                             const SampleTable& samples,
                             const Eigen::VectorXd& theta,
                             const Method& method) {
  Eigen::MatrixXd G = Eigen::MatrixXd::Zero(theta.size(), theta.size());
  for (Eigen::Index i = 0; i < samples.rows(); ++i) {
    const double* record = samples.data() + i * samples.cols();
    const auto [z, J] =
        method.linearise([&](const auto& at) { return parts.prediction(at, record); }, theta);
    const Eigen::MatrixXd L =
        method.hessian([&](const auto& at) { return parts.loss(at, record); }, z);
    G += J.transpose() * L * J / static_cast<double>(samples.rows());
  }
  return G;
}

/// Within `tolerance` of the expected norm; the floor as in loss_oracle.h.
inline void expect_near(const Eigen::MatrixXd& actual,
                        const Eigen::MatrixXd& expected,
                        double tolerance,
                        const std::string& oracle) {
  constexpr double kFloor = 1e-20;
  ASSERT_EQ(actual.rows(), expected.rows());
  ASSERT_EQ(actual.cols(), expected.cols());
  const double error = (actual - expected).norm();
  EXPECT_TRUE(error <= tolerance * expected.norm() + kFloor)
      << "matrix against " << oracle << ": error " << error << ", norm " << expected.norm();
}

}  // namespace hesscope::test
