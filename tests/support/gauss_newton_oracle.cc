// SPDX-License-Identifier: BSD-3-Clause
#include "support/gauss_newton_oracle.h"

namespace hesscope::test {

Linearisation ByFiftyDigits::linearise(
    const std::function<Column<Real50>(const Column<Real50>&)>& prediction,
    const Eigen::VectorXd& theta) const {
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

}  // namespace hesscope::test
