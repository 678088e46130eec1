// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace hesscope {

/// Which second derivatives of a loss l(z(theta)) with prediction z (Graph::set_prediction).
/// Applying the chain rule twice gives
///   H = J^T (d2l/dz2) J + sum_k (dl/dz_k) d2z_k/dtheta2 = G + R,   J = dz/dtheta.
/// @source Schraudolph (2002), Neural Computation 14(7), section 3; Martens (2020), JMLR 21(146),
///         section 8.
enum class Curvature : std::uint8_t {
  kHessian,      ///< H
  kGaussNewton,  ///< G, the generalised Gauss-Newton matrix, which ignores the curvature of z
};

}  // namespace hesscope
