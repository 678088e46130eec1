// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/optim/clipping.h>

namespace hesscope {

Eigen::VectorXd clip_norm(const Eigen::Ref<const Eigen::VectorXd>& gradient, double max_norm) {
  if (!(max_norm > 0)) {
    throw PreconditionError(fmt::format("clip_norm: max_norm must be above 0, got {}", max_norm));
  }
  const double norm = detail::norm(gradient);
  if (!std::isfinite(norm) && gradient.allFinite()) {
    if (std::isinf(max_norm)) return gradient;
    // The norm exceeds the largest double, although no entry does; 2^-32 of it does not.
    const Eigen::VectorXd part = 0x1p-32 * gradient;
    return max_norm / detail::norm(part) * part;
  }
  const double factor = max_norm / (norm + 1e-6);
  if (factor >= 1) return gradient;
  return factor * gradient;
}

double coordinate_threshold(const Eigen::Ref<const Eigen::VectorXd>& values, double fraction) {
  if (!(fraction >= 0 && fraction < 1) || values.size() == 0) {
    throw PreconditionError(fmt::format(
        "coordinate_threshold: fraction must be in [0, 1) of at least one value, got {} of {}",
        fraction,
        values.size()));
  }
  if (values.hasNaN()) return kNaN;
  Eigen::VectorXd magnitudes = values.cwiseAbs();
  // A fraction below 1 may still round up to all of them.
  const auto rank =
      std::min(static_cast<Eigen::Index>(std::floor(fraction * static_cast<double>(values.size()))),
               values.size() - 1);
  std::nth_element(
      magnitudes.begin(), magnitudes.begin() + rank, magnitudes.end(), std::greater<>());
  return magnitudes[rank];
}

Eigen::VectorXd clip_coordinates(const Eigen::Ref<const Eigen::VectorXd>& values, double fraction) {
  const double threshold = coordinate_threshold(values, fraction);
  return values.unaryExpr(
      [threshold](double x) { return std::abs(x) <= threshold ? x : std::copysign(threshold, x); });
}

}  // namespace hesscope
