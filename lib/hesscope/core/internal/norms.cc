// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/core/internal/norms.h>

namespace hesscope::detail {

Wide scaled_sum_of_squares(const Eigen::Ref<const Eigen::MatrixXd>& x) {
  const double largest = x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  if (largest == 0.0 || !std::isfinite(largest)) return largest;
  // What underflows against the largest is far below the rounding of the sum.
  const int exponent = exponent_of(largest);
  const double factor = std::ldexp(1.0, -exponent);
  double squares = 0.0;
  for (Eigen::Index j = 0; j < x.cols(); ++j) squares += (x.col(j) * factor).squaredNorm();
  return ldexp(Wide(squares), 2 * exponent);
}

Wide wide_dot(const Eigen::Ref<const Eigen::VectorXd>& a,
              const Eigen::Ref<const Eigen::VectorXd>& b) {
  Wide result;
  for (Eigen::Index i = 0; i < a.size(); ++i) result += Wide(a[i]) * Wide(b[i]);
  return result;
}

Wide wide_sum(const Eigen::Ref<const Eigen::VectorXd>& x) {
  Wide result;
  for (Eigen::Index i = 0; i < x.size(); ++i) result += x[i];
  return result;
}

}  // namespace hesscope::detail
