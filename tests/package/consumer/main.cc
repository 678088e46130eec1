// SPDX-License-Identifier: BSD-3-Clause
//
// The example of README.md.
#include <cmath>
#include <iostream>

#include <Eigen/Core>

#include <hesscope/hesscope.h>

// A model and its data: the loss of one sample, written once for every scalar type T.
struct LogisticRegression {
  Eigen::MatrixXd inputs;  // samples x parameters
  Eigen::VectorXd labels;  // +1 or -1

  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& theta, Eigen::Index sample) const {
    using std::exp, std::log1p;
    return log1p(exp(-labels(sample) * inputs.row(sample).dot(theta)));
  }
};

int main() {
  // The exact Hessian of a function.
  const auto rosenbrock = [](const auto& x) {
    const auto a = 1.0 - x(0);
    const auto b = x(1) - x(0) * x(0);
    return a * a + 100.0 * b * b;
  };
  const Eigen::Matrix2d H = hesscope::hessian(rosenbrock, Eigen::Vector2d(1.0, 1.0));
  std::cout << H << '\n';  // 802 -400
                           // -400 200

  // The curvature of a training loss, and its spectrum with proof.
  LogisticRegression model{Eigen::MatrixXd(4, 2), Eigen::VectorXd(4)};
  model.inputs << 1.0, 0.5, 1.0, -1.5, 1.0, 2.0, 1.0, -0.25;
  model.labels << 1.0, -1.0, 1.0, -1.0;
  const auto objective = hesscope::make_objective(model, 2, 4);
  const Eigen::MatrixXd curvature = objective.hessian(Eigen::Vector2d(0.1, 0.8));
  const hesscope::Spectrum spectrum = hesscope::dense_spectrum(curvature);
  std::cout << "eigenvalues " << spectrum.smallest.value << " to " << spectrum.largest.value
            << '\n';

  const bool is_exact = H == (Eigen::Matrix2d() << 802.0, -400.0, -400.0, 200.0).finished();
  return is_exact && spectrum.smallest.value > 0.0 ? 0 : 1;
}
