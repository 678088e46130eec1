// SPDX-License-Identifier: BSD-3-Clause

#include <Eigen/QR>

#include <hesscope/core/constants.h>
#include <hesscope/landscape/plane.h>

namespace hesscope {

Eigen::VectorXd Plane::at(double alpha, double beta) const {
  Eigen::VectorXd point = centre;
  if (alpha != 0) point += alpha * directions.col(0);
  if (beta != 0) point += beta * directions.col(1);
  return point;
}

Plane::Projection Plane::project(const Eigen::Ref<const Eigen::VectorXd>& theta) const {
  const Eigen::VectorXd difference = theta - centre;
  if (!difference.allFinite()) {
    const double nan = kNaN;
    return {nan, nan, nan};
  }
  // Columns of unit length: their scales then do not enter the factorisation.
  const Eigen::VectorXd norms = directions.colwise().stableNorm();
  const Eigen::MatrixXd units = directions * norms.cwiseInverse().asDiagonal();
  const Eigen::VectorXd along = units.householderQr().solve(difference);
  const Eigen::VectorXd coordinates = along.cwiseQuotient(norms);
  const double residual = (difference - units * along).stableNorm();
  return {coordinates[0], coordinates.size() > 1 ? coordinates[1] : 0.0, residual};
}

Eigen::MatrixXd Plane::basis() const {
  const Eigen::VectorXd norms = directions.colwise().stableNorm();
  const Eigen::MatrixXd units = directions * norms.cwiseInverse().asDiagonal();
  return units.householderQr().householderQ() *
         Eigen::MatrixXd::Identity(units.rows(), units.cols());
}

double cosine(const Eigen::Ref<const Eigen::VectorXd>& a,
              const Eigen::Ref<const Eigen::VectorXd>& b) {
  return (a / a.stableNorm()).dot(b / b.stableNorm());
}

}  // namespace hesscope
