// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include <hesscope/core/internal/norms.h>

namespace hesscope::detail {

Wide scaled_sum_of_squares(const Eigen::Ref<const Eigen::MatrixXd>& x) {
  const double largest = x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  if (largest == 0.0 || !std::isfinite(largest)) return largest;
  // What underflows relative to the largest is far below the rounding of the sum.
  const int exponent = exponent_of(largest);
  const double factor = std::ldexp(1.0, -exponent);
  double squares = 0.0;
  for (Eigen::Index j = 0; j < x.cols(); ++j) squares += (x.col(j) * factor).squaredNorm();
  return ldexp(Wide(squares), std::int64_t{2} * exponent);
}

Eigen::VectorXd column_norms(const Eigen::Ref<const Eigen::MatrixXd>& x) {
  Eigen::VectorXd norms(x.cols());
  for (Eigen::Index j = 0; j < x.cols(); ++j) norms[j] = norm(x.col(j));
  return norms;
}

Eigen::VectorXd normalized(const Eigen::Ref<const Eigen::VectorXd>& x) {
  const double length = norm(x);
  if (length == 0) return x;
  if (length >= 0x1p-900 && std::isfinite(length)) return x / length;
  // Scale so that the norm has all its digits.
  const Eigen::VectorXd scaled = (length < 1 ? 0x1p200 : 0x1p-32) * x;
  return scaled / norm(scaled);
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
