// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

namespace hesscope::detail {

/// The signs of the entries, -1, 0 or 1; NaN stays NaN, whereas Eigen's sign() turns it into 0.
inline Eigen::VectorXd signs_of(const Eigen::Ref<const Eigen::VectorXd>& values) {
  return values.unaryExpr([](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x == 0 ? 0.0 : x; });
}

}  // namespace hesscope::detail
