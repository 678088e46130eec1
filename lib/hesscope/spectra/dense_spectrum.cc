// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/core/error.h>
#include <hesscope/spectra/lapack.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Eigen::Index lower_median_rank(Eigen::Index n) { return (n - 1) / 2; }

// Calls use(i, j, H(i, j)) for i >= j, column by column.
template <typename Use>
void for_each_in_lower_triangle(const Eigen::Ref<const Eigen::MatrixXd>& hessian, const Use& use) {
  for (Eigen::Index j = 0; j < hessian.cols(); ++j) {
    for (Eigen::Index i = j; i < hessian.rows(); ++i) use(i, j, hessian(i, j));
  }
}

struct Survey {
  bool is_finite = true;
  double largest_magnitude = 0.0;
  std::int64_t num_dead = 0;
};

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

// Both triangles of 2^-exponent H.
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

void count_signs(Spectrum& spectrum) {
  const auto& values = spectrum.eigenvalues;
  const double band = spectrum.rounding_band;
  spectrum.num_negative = (values.array() < -band).count();
  spectrum.num_positive = (values.array() > band).count();
  spectrum.num_zero = values.size() - spectrum.num_negative - spectrum.num_positive;
}

}  // namespace

// LAPACK sees 2^-exponent H with its largest entry in [1, 2): nothing overflows, nothing that
// matters underflows, and the answers for H and 2^k H have the same digits.
//
// One n x n copy serves two purposes. Its lower triangle is overwritten by the reduction to
// tridiagonal form; its strict upper triangle, which LAPACK leaves alone, together with the
// restored diagonal still is the matrix that residuals are formed with.
Spectrum dense_spectrum(const Eigen::Ref<const Eigen::MatrixXd>& hessian) {
  const Eigen::Index n = hessian.rows();
  if (n == 0 || hessian.cols() != n || n > detail::max_lapack_dimension()) {
    throw PreconditionError("dense_spectrum: hessian must be square with 1 to " +
                            std::to_string(detail::max_lapack_dimension()) + " rows, got " +
                            std::to_string(n) + "x" + std::to_string(hessian.cols()));
  }
  Spectrum spectrum;
  const Survey found = survey(hessian);
  if (!found.is_finite) {
    spectrum.status = Status::kNonFinite;
    return spectrum;
  }
  spectrum.num_dead = found.num_dead;

  const detail::SingleThreadedBlas one_thread;
  const int exponent = found.largest_magnitude > 0.0 ? std::ilogb(found.largest_magnitude) : 0;
  Eigen::MatrixXd copy = scaled_copy(hessian, exponent);
  const Eigen::VectorXd diagonal = copy.diagonal();
  const detail::Reduction reduction = detail::tridiagonalize(copy);
  const std::optional<Eigen::VectorXd> values = detail::eigenvalues(reduction.t);
  if (!values || !values->allFinite()) {
    spectrum.status = Status::kFailed;
    return spectrum;
  }
  Eigen::VectorXd eigenvalues = scaled_back(*values, exponent);
  if (!eigenvalues.allFinite()) {
    spectrum.status = Status::kNonFinite;
    return spectrum;
  }

  copy.diagonal() = diagonal;
  const auto established = [&](Eigen::Index rank) {
    const std::optional<Eigen::VectorXd> of_t = detail::eigenvector(reduction.t, rank);
    if (!of_t) return Eigenvalue{eigenvalues[rank], kNaN};
    const Eigen::VectorXd v = detail::apply_q(copy, reduction.tau, *of_t).normalized();
    const Eigen::VectorXd error = copy.selfadjointView<Eigen::Upper>() * v - (*values)[rank] * v;
    return Eigenvalue{eigenvalues[rank], std::ldexp(error.norm(), exponent)};
  };
  spectrum.smallest = established(0);
  spectrum.median = established(lower_median_rank(n));
  spectrum.largest = established(n - 1);

  const double scaled_norm = std::max(std::abs((*values)[0]), std::abs((*values)[n - 1]));
  const double scaled_band =
      static_cast<double>(n + 10) * std::numeric_limits<double>::epsilon() * scaled_norm;
  spectrum.rounding_band = std::ldexp(scaled_band, exponent);
  spectrum.eigenvalues = std::move(eigenvalues);
  count_signs(spectrum);
  spectrum.status = Status::kOk;
  spectrum.proof = Proof::kDense;
  return spectrum;
}

double lower_median(const Eigen::Ref<const Eigen::VectorXd>& values) {
  if (values.size() == 0 || !values.allFinite()) return kNaN;
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + lower_median_rank(values.size());
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

}  // namespace hesscope
