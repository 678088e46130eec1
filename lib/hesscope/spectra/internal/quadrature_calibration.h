// SPDX-License-Identifier: BSD-3-Clause
//
// The weights of eigenvalues that all probes of a Lanczos quadrature have found.
#pragma once

#include <vector>

#include <Eigen/Core>

namespace hesscope::detail {

/// The result of Lanczos for one probe: H V = V T + (a vector of length `remainder`) e_m^T, and
/// T = S diag(nodes) S^T.
struct ProbeRule {
  Eigen::MatrixXd basis;   // V, n x at least m
  Eigen::VectorXd nodes;   // m, ascending
  Eigen::MatrixXd s;       // m x m
  double remainder = 0.0;  // >= 0

  Eigen::VectorXd weights() const { return s.row(0).transpose().cwiseAbs2(); }
};

struct Calibration {
  std::vector<Eigen::VectorXd> weights;  // of each rule, with sum 1
  Eigen::Index num_counted = 0;          // dimension of the known eigenspaces
};

/// See lanczos_quadrature. The rules must belong to independent probes in general position.
Calibration calibrate(const std::vector<ProbeRule>& rules);

}  // namespace hesscope::detail
