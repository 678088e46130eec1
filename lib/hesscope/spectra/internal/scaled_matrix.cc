// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/spectra/internal/scaled_matrix.h>

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

Survey survey_symmetric(const char* function, const Eigen::Ref<const Eigen::MatrixXd>& hessian) {
  Survey found = survey(hessian);
  const Eigen::Index n = hessian.rows();
  // In squares, so that both triangles are read in a cache-friendly way.
  constexpr Eigen::Index kEdge = 32;
  double largest = 0.0;
  Eigen::Index row = 0;
  Eigen::Index col = 0;
  for (Eigen::Index first_j = 0; first_j < n; first_j += kEdge) {
    for (Eigen::Index first_i = 0; first_i <= first_j; first_i += kEdge) {
      for (Eigen::Index j = first_j; j < std::min(first_j + kEdge, n); ++j) {
        for (Eigen::Index i = first_i; i < std::min(first_i + kEdge, j); ++i) {
          found.is_finite = found.is_finite && std::isfinite(hessian(i, j));
          const double asymmetry = std::abs(hessian(j, i) - hessian(i, j));
          if (!(asymmetry > largest)) continue;
          largest = asymmetry;
          row = j;
          col = i;
        }
      }
    }
  }
  // The rounding of subnormal numbers is not relative to their size.
  const double allowed = rounding_band(n, found.largest_magnitude) +
                         static_cast<double>(n + 10) * std::numeric_limits<double>::denorm_min();
  if (found.is_finite && largest > allowed) {
    throw PreconditionError(
        fmt::format("{}: hessian must be symmetric; entries ({}, {}) and ({}, {}) are {} and {}, "
                    "which differ by {}, more than any other pair and than rounding explains. "
                    "Where they should be equal, pass (H + H^T) / 2",
                    function,
                    row,
                    col,
                    col,
                    row,
                    hessian(row, col),
                    hessian(col, row),
                    largest));
  }
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

double scaled_down(double x, int exponent) {
  const double scaled = std::ldexp(x, exponent);
  return std::ldexp(scaled, -exponent) > x ? std::nextafter(scaled, -kInfinity) : scaled;
}

double scaled_up(double x, int exponent) { return -scaled_down(-x, exponent); }

double rounding_band(Eigen::Index n, double norm) {
  return static_cast<double>(n + 10) * kEpsilon * norm;
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
