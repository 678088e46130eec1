// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/spectra/distribution_distance.h>
#include <hesscope/spectra/internal/gaussian_grid.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

void require_density(const Eigen::Ref<const VectorXd>& p) {
  if (!p.allFinite() || !(p.array() >= 0.0).all() || !(p.maxCoeff() > 0.0)) {
    throw PreconditionError(
        "jensen_shannon_distance: a density must be finite, not negative, and not zero on the "
        "whole grid");
  }
}

}  // namespace

double wasserstein_distance(const SpectralMeasure& a, const SpectralMeasure& b) {
  detail::require_measure("wasserstein_distance", a);
  detail::require_measure("wasserstein_distance", b);
  const auto next = [](const SpectralMeasure& m, Index i) {
    return i < m.nodes.size() ? m.nodes[i] : kInfinity;
  };
  Index i = 0;
  Index k = 0;
  double f = 0.0;  // F and G at and to the right of x
  double g = 0.0;
  double half = 0.0;  // of the distance, which may exceed double between nodes of both signs
  double x = std::min(a.nodes[0], b.nodes[0]);
  while (i < a.nodes.size() || k < b.nodes.size()) {
    const double to = std::min(next(a, i), next(b, k));
    half += std::abs(f - g) * (0.5 * to - 0.5 * x);
    x = to;
    for (; next(a, i) == x; ++i) f += a.weights[i];
    for (; next(b, k) == x; ++k) g += b.weights[k];
  }
  return 2.0 * half;
}

// With s = P + Q and d = (P - Q) / s, a term of JS is s / 4 times
//      (1 + d) log(1 + d) + (1 - d) log(1 - d) = 2 d atanh(d) + log(1 - d^2),
// which loses no digits if P and Q are close and the term is d^2 (1 + d^2 / 6 + ...).
double jensen_shannon_distance(const Eigen::Ref<const VectorXd>& p,
                               const Eigen::Ref<const VectorXd>& q) {
  if (p.size() == 0 || p.size() != q.size()) {
    throw PreconditionError(
        fmt::format("jensen_shannon_distance: p and q must be as many, and at least one; got {} "
                    "and {}",
                    p.size(),
                    q.size()));
  }
  require_density(p);
  require_density(q);
  // First divided by the largest: sums of numbers near overflow would overflow.
  const VectorXd scaled_p = p / p.maxCoeff();
  const VectorXd scaled_q = q / q.maxCoeff();
  const double sum_p = scaled_p.sum();
  const double sum_q = scaled_q.sum();
  double divergence = 0.0;
  for (Index i = 0; i < p.size(); ++i) {
    const double p_i = scaled_p[i] / sum_p;
    const double q_i = scaled_q[i] / sum_q;
    const double s = p_i + q_i;
    if (s == 0.0) continue;
    const double d = std::abs(p_i - q_i) / s;
    divergence +=
        0.25 * s *
        (d < 1.0 ? 2.0 * d * std::atanh(d) + std::log1p(-d * d) : 2.0 * std::numbers::ln2);
  }
  return std::sqrt(std::clamp(divergence, 0.0, std::numbers::ln2));
}

double jensen_shannon_distance(const SpectralMeasure& a,
                               const SpectralMeasure& b,
                               const DensityOptions& options) {
  detail::require_measure("jensen_shannon_distance", a);
  detail::require_measure("jensen_shannon_distance", b);
  const double smallest = std::min(a.nodes[0], b.nodes[0]);
  const double largest = std::max(a.nodes[a.nodes.size() - 1], b.nodes[b.nodes.size() - 1]);
  const detail::GaussianGrid grid("jensen_shannon_distance",
                                  options.sigma.value_or(default_sigma(smallest, largest)),
                                  smallest,
                                  largest,
                                  options.lower,
                                  options.upper,
                                  options.num_points);
  if (!(grid.spacing() <= grid.sigma())) {
    throw PreconditionError(
        fmt::format("jensen_shannon_distance: {} points on [{}, {}] are further apart than sigma, "
                    "{}",
                    options.num_points,
                    grid.lower(),
                    grid.upper(),
                    grid.sigma()));
  }
  return jensen_shannon_distance(grid.kernel_sum(a.nodes, a.weights),
                                 grid.kernel_sum(b.nodes, b.weights));
}

}  // namespace hesscope
