// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by `adam` and `muon`.
#pragma once

#include <cmath>
#include <limits>

#include <Eigen/Core>

#include <hesscope/core/constants.h>

namespace hesscope::detail {

struct AdamDecays {
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
};

/// 1 - beta^t without cancellation for beta near 1.
inline double bias_correction(double beta, double t) { return -std::expm1(t * std::log(beta)); }

/// Takes the gradient d of step t = 1, 2, ... into the averages m and v and returns
///   -(m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon),
/// with 0 / 0 = 0. If v is beyond the range of double, the parameter would never move again; the
/// direction is then NaN.
inline Eigen::VectorXd adam_direction(const AdamDecays& decays,
                                      double t,
                                      const Eigen::Ref<const Eigen::VectorXd>& d,
                                      Eigen::Ref<Eigen::VectorXd> m,
                                      Eigen::Ref<Eigen::VectorXd> v) {
  m = decays.beta1 * m + (1 - decays.beta1) * d;
  v = decays.beta2 * v + (1 - decays.beta2) * d.cwiseAbs2();
  const Eigen::ArrayXd mean = m.array() / bias_correction(decays.beta1, t);
  const Eigen::ArrayXd root =
      (v.array() / bias_correction(decays.beta2, t)).sqrt() + decays.epsilon;
  const Eigen::ArrayXd direction = (mean == 0 && root == 0).select(0.0, -mean / root);
  return (root <= std::numeric_limits<double>::max()).select(direction, kNaN);
}

}  // namespace hesscope::detail
