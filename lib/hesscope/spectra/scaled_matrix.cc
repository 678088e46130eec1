// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/spectra/lapack.h>
#include <hesscope/spectra/scaled_matrix.h>

namespace hesscope::detail {
namespace {

// Calls use(i, j, H(i, j)) for i >= j, column by column.
template <typename Use>
void for_each_in_lower_triangle(const Eigen::Ref<const Eigen::MatrixXd>& hessian, const Use& use) {
  for (Eigen::Index j = 0; j < hessian.cols(); ++j) {
    for (Eigen::Index i = j; i < hessian.rows(); ++i) use(i, j, hessian(i, j));
  }
}

}  // namespace

int Survey::exponent() const { return largest_magnitude > 0.0 ? std::ilogb(largest_magnitude) : 0; }

Survey survey(const Eigen::Ref<const Eigen::MatrixXd>& hessian) {
  Survey found;
  Eigen::Array<bool, Eigen::Dynamic, 1> is_dead(hessian.rows());
  is_dead.setConstant(true);
  for_each_in_lower_triangle(hessian, [&](Eigen::Index i, Eigen::Index j, double entry) {
    found.is_finite = found.is_finite && std::isfinite(entry);
    found.largest_magnitude = std::max(found.largest_magnitude, std::abs(entry));
    if (entry != 0.0) is_dead[i] = is_dead[j] = false;
  });
  found.num_dead = is_dead.count();
  return found;
}

Eigen::MatrixXd scaled_copy(const Eigen::Ref<const Eigen::MatrixXd>& hessian, int exponent) {
  Eigen::MatrixXd copy(hessian.rows(), hessian.cols());
  for_each_in_lower_triangle(hessian, [&](Eigen::Index i, Eigen::Index j, double entry) {
    copy(i, j) = copy(j, i) = std::ldexp(entry, -exponent);
  });
  return copy;
}

Eigen::VectorXd scaled_back(const Eigen::VectorXd& values, int exponent) {
  return values.unaryExpr([exponent](double value) { return std::ldexp(value, exponent); });
}

double rounding_band(Eigen::Index n, double norm) {
  return static_cast<double>(n + 10) * std::numeric_limits<double>::epsilon() * norm;
}

void require_symmetric_shape(const char* function,
                             const Eigen::Ref<const Eigen::MatrixXd>& hessian) {
  const Eigen::Index n = hessian.rows();
  if (n == 0 || hessian.cols() != n || n > max_lapack_dimension()) {
    throw PreconditionError(fmt::format("{}: hessian must be square with 1 to {} rows, got {}x{}",
                                        function,
                                        max_lapack_dimension(),
                                        n,
                                        hessian.cols()));
  }
}

}  // namespace hesscope::detail
