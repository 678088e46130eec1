// SPDX-License-Identifier: BSD-3-Clause
//
// The Gauss-Newton matrix (1/N) sum_i J_i^T L_i J_i, L_i = d2l_i/dz2, by its definition: from a
// model's prediction and loss in a second implementation as plain scalar code (model_oracle.h),
// with the Jacobian by one of several methods, and products of matrices.
#pragma once

#include <functional>

#include <Eigen/Core>

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
  using Scalar = NestedCeres<N>;
  using OutputScalar = NestedCeres<M>;

  Linearisation linearise(const std::function<Column<Scalar>(const Column<Scalar>&)>& prediction,
                          const Eigen::VectorXd& theta) const {
    Column<Scalar> at(theta.size());
    for (int i = 0; i < theta.size(); ++i) at(i) = Scalar::variable(theta(i), i);
    const Column<Scalar> z = prediction(at);
    Linearisation result{Eigen::VectorXd(z.size()), Eigen::MatrixXd(z.size(), theta.size())};
    for (Eigen::Index k = 0; k < z.size(); ++k) {
      result.z(k) = z(k).jet.a.a;
      for (int j = 0; j < theta.size(); ++j) result.J(k, j) = z(k).jet.v(j).a;
    }
    return result;
  }

  Eigen::MatrixXd hessian(const FunctionOn<OutputScalar>& loss, const Eigen::VectorXd& z) const {
    return by_nested_ceres<M>(loss, z).hessian;
  }
};

/// By central differences of 50-digit numbers: without any derivative rule, but only at smooth
/// points.
struct ByFiftyDigits {
  Linearisation linearise(const std::function<Column<Real50>(const Column<Real50>&)>& prediction,
                          const Eigen::VectorXd& theta) const;

  Eigen::MatrixXd hessian(const FunctionOn<Real50>& loss, const Eigen::VectorXd& z) const {
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

}  // namespace hesscope::test
