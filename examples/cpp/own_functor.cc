// SPDX-License-Identifier: BSD-3-Clause
//
// A loss of one's own as a callable: its derivatives, its spectrum, its landscape, and result
// files.
#include <cmath>
#include <iostream>

#include <Eigen/Core>

#include <hesscope/analysis/analyze.h>
#include <hesscope/hesscope.h>
#include <hesscope/landscape/map_landscape.h>

// [functor]
// The loss of sample i, written once for every scalar type T.
struct LogisticLoss {
  Eigen::MatrixXd inputs;  // samples x parameters
  Eigen::VectorXd labels;  // +1 or -1

  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& theta, Eigen::Index i) const {
    using std::exp, std::log1p;  // not std::exp(...): T has its own
    return log1p(exp(-labels(i) * inputs.row(i).dot(theta)));
  }
};

// [functor]

int main() {
  // [objective]
  LogisticLoss loss{Eigen::MatrixXd(4, 2), Eigen::VectorXd(4)};
  loss.inputs << 1.0, 0.5, 1.0, -1.5, 1.0, 2.0, 1.0, -0.25;
  loss.labels << 1.0, -1.0, 1.0, -1.0;
  const auto objective = hesscope::make_objective(loss, 2, 4);  // parameters, samples

  const Eigen::Vector2d theta(0.1, 0.8);
  const Eigen::MatrixXd H = objective.hessian(theta);
  const hesscope::Spectrum spectrum = hesscope::dense_spectrum(H);
  std::cout << spectrum.smallest.value << " to " << spectrum.largest.value << '\n';

  const auto analysis = hesscope::analyze(
      objective, {{"start", Eigen::Vector2d(0, 0)}, {"end", theta}}, {"spectrum", "condition"});
  // For hesscope plot, export and inspect. Without the option a file that is there is refused.
  analysis.write("curvature.h5", {.overwrite = hesscope::io::Overwrite::kOwnKind});
  // [objective]

  // [landscape]
  hesscope::LandscapeOptions options;
  options.directions = "eigen";  // the outermost eigenvectors at the last point
  options.grid = hesscope::parse_grid("41x41", "-2:2");
  const auto landscape = hesscope::map_landscape(objective, {{"end", theta}}, options);
  std::cout << landscape.loss().minCoeff() << " is the least loss on the plane\n";
  landscape.write("plane.h5", {.overwrite = hesscope::io::Overwrite::kOwnKind});
  // [landscape]

  // At 0 all logistic losses have curvature 1/4 along their input.
  const Eigen::Matrix2d at_zero = loss.inputs.transpose() * loss.inputs / 16.0;
  const double trace = analysis["start"].number("spectrum", "lambda_min") +
                       analysis["start"].number("spectrum", "lambda_max");
  const bool is_centred = landscape.loss()(20, 20) == objective.value(theta);
  const bool is_exact = std::abs(trace - at_zero.trace()) <= 1e-14 && spectrum.smallest.value > 0;
  return is_exact && is_centred ? 0 : 1;
}
