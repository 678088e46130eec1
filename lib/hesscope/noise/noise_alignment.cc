// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/noise/noise_alignment.h>
#include <hesscope/spectra/internal/scaled_matrix.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void require_covariance(const char* function,
                        const Eigen::Ref<const MatrixXd>& covariance,
                        Index n) {
  if (covariance.rows() != n || covariance.cols() != n) {
    throw PreconditionError(fmt::format("{}: covariance must be {} x {}, got {} x {}",
                                        function,
                                        n,
                                        n,
                                        covariance.rows(),
                                        covariance.cols()));
  }
}

NoiseAlignment both(Status status) {
  return {missing_statistic(status), missing_statistic(status)};
}

// Coinciding eigenvalues k, first <= k < end.
struct Coinciding {
  Index first;
  Index end;
};

std::vector<Coinciding> coinciding(const Eigensystem& eigensystem) {
  const VectorXd& values = eigensystem.eigenvalues;
  std::vector<Coinciding> found;
  for (Index k = 0; k < values.size(); ++k) {
    const bool is_next =
        k == 0 || !(std::abs(values[k] - values[k - 1]) <= eigensystem.rounding_band);
    if (is_next) found.push_back({k, k});
    found.back().end = k + 1;
  }
  return found;
}

LineFit power_law(const Eigensystem& eigensystem,
                  const std::vector<Coinciding>& sets,
                  const VectorXd& noise,
                  double noise_band,
                  Index& num_fitted) {
  std::vector<double> x;
  std::vector<double> y;
  double smallest = kInfinity;
  double largest = 0.0;
  for (const Coinciding& set : sets) {
    const double magnitude =
        std::abs(eigensystem.eigenvalues.segment(set.first, set.end - set.first).mean());
    if (!(magnitude > eigensystem.rounding_band && noise[set.first] > noise_band)) continue;
    smallest = std::min(smallest, magnitude);
    largest = std::max(largest, magnitude);
    x.push_back(std::log(magnitude));
    y.push_back(std::log(noise[set.first]));
  }
  num_fitted = static_cast<Index>(x.size());
  // If all have the same magnitude, apart from the sign, there is no slope.
  if (x.size() < 2 || !(largest - smallest > eigensystem.rounding_band)) {
    const Statistic none = missing_statistic(Status::kUndefinedZeroDenominator);
    return {none, none, none, none};
  }
  return fit_line(Eigen::Map<const VectorXd>(x.data(), num_fitted),
                  Eigen::Map<const VectorXd>(y.data(), num_fitted));
}

}  // namespace

NoiseAlignment noise_alignment(const Eigen::Ref<const MatrixXd>& hessian,
                               const Eigen::Ref<const MatrixXd>& covariance) {
  constexpr const char* kFunction = "noise_alignment";
  detail::require_symmetric_shape(kFunction, hessian);
  require_covariance(kFunction, covariance, hessian.rows());
  const detail::Survey of_h = detail::survey(hessian);
  const detail::Survey of_s = detail::survey(covariance);
  if (!of_h.is_finite || !of_s.is_finite) return both(Status::kNonFinite);
  if (of_h.largest_magnitude == 0.0 || of_s.largest_magnitude == 0.0) {
    return both(Status::kUndefinedZeroDenominator);
  }
  // Neither result depends on the scales.
  const MatrixXd h = detail::scaled_copy(hessian, of_h.exponent());
  const MatrixXd s = detail::scaled_copy(covariance, of_s.exponent());
  const double norms = h.norm() * s.norm();
  const double cosine = h.cwiseProduct(s).sum() / norms;
  const detail::SingleThreadedBlas one_thread;
  const MatrixXd product = detail::symmetric_times(h, s);
  // S H = (H S)^T.
  const double commutator = (product - product.transpose()).norm() / (2.0 * norms);
  return {finite_statistic(std::clamp(cosine, -1.0, 1.0)), finite_statistic(commutator)};
}

NoiseSpectrum noise_spectrum(const Eigensystem& eigensystem,
                             const Eigen::Ref<const MatrixXd>& covariance,
                             int exponent) {
  constexpr const char* kFunction = "noise_spectrum";
  NoiseSpectrum result;
  result.status = eigensystem.status;
  if (eigensystem.status != Status::kOk) return result;
  const Index n = eigensystem.eigenvalues.size();
  require_covariance(kFunction, covariance, n);
  const detail::Survey found = detail::survey(covariance);
  if (!found.is_finite) {
    result.status = Status::kNonFinite;
    return result;
  }
  const int exponent_of_copy = found.exponent();
  const MatrixXd s = detail::scaled_copy(covariance, exponent_of_copy);
  MatrixXd product;
  {
    const detail::SingleThreadedBlas one_thread;
    product = detail::symmetric_times(s, eigensystem.eigenvectors);
  }
  VectorXd noise = eigensystem.eigenvectors.cwiseProduct(product).colwise().sum().transpose();
  const std::vector<Coinciding> sets = coinciding(eigensystem);
  for (const Coinciding& set : sets) {
    auto own = noise.segment(set.first, set.end - set.first);
    own.setConstant(own.mean());
  }
  result.noise = detail::scaled_back(noise, exponent_of_copy + 2 * exponent);
  // The exponent of a power law is the same for multiples of S.
  const double band = std::ldexp(detail::rounding_band(n, s.norm()), exponent_of_copy);
  result.power_law = power_law(
      eigensystem, sets, detail::scaled_back(noise, exponent_of_copy), band, result.num_fitted);
  if (exponent != 0 && result.power_law.intercept.status == Status::kOk) {
    result.power_law.intercept.value += 2.0 * exponent * std::numbers::ln2;
  }
  return result;
}

}  // namespace hesscope
