// SPDX-License-Identifier: BSD-3-Clause
#include "support/loss_oracle.h"

#include "support/line_differences.h"

namespace hesscope::test {

Derivatives by_fifty_digits(const FunctionOn<Real50>& f, const Eigen::VectorXd& x) {
  const CentralDifferences<Real50> differences(f, x, Real50("1e-12"));
  const Column<Real50> at = x.cast<Real50>();
  return {static_cast<double>(f(at)), differences.gradient, differences.hessian};
}

Eigen::MatrixXd third_derivatives_by_fifty_digits(const FunctionOn<Real50>& f,
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

Eigen::MatrixXd line_derivatives_by_fifty_digits(const FunctionOn<Real50>& f,
                                                 const Eigen::VectorXd& x,
                                                 const Eigen::MatrixXd& v) {
  return differences_along_lines(v.cols(), [&](Eigen::Index k, const Real50& t) {
    Column<Real50> at = x.cast<Real50>();
    for (Eigen::Index j = 0; j < at.size(); ++j) at(j) += t * Real50(v(j, k));
    return f(at);
  });
}

}  // namespace hesscope::test
