// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/statistics/internal/centered.h>
#include <hesscope/statistics/least_squares.h>

namespace hesscope {

LineFit fit_line(const Eigen::Ref<const Eigen::VectorXd>& x,
                 const Eigen::Ref<const Eigen::VectorXd>& y) {
  if (x.size() < 1 || x.size() != y.size()) {
    throw PreconditionError(fmt::format(
        "fit_line: x and y must be as many, and at least one; got {} and {}", x.size(), y.size()));
  }
  if (!x.allFinite() || !y.allFinite()) {
    const Statistic none = missing_statistic(Status::kNonFinite);
    return {none, none, none, none};
  }
  const Statistic undefined = missing_statistic(Status::kUndefinedZeroDenominator);
  LineFit fit = {undefined, undefined, undefined, undefined};
  const detail::Centered u = detail::centered(x, detail::lower_median_of(x));
  const detail::Centered v = detail::centered(y, detail::lower_median_of(y));
  if (!(u.scale > 0.0)) return fit;
  // For the scaled deviations.
  const double uu = u.deviations.squaredNorm();
  const double slope = u.deviations.dot(v.deviations) / uu;
  const detail::Wide unit = v.scale / u.scale;
  fit.slope = finite_statistic((slope * unit).value());
  fit.intercept = finite_statistic((v.mean - slope * unit * u.mean).value());
  if (v.scale > 0.0) {
    const double r = slope * std::sqrt(uu / v.deviations.squaredNorm());
    fit.correlation = finite_statistic(std::clamp(r, -1.0, 1.0));
  }
  if (x.size() > 2) {
    const double residual = (v.deviations - slope * u.deviations).squaredNorm();
    const double variance = residual / static_cast<double>(x.size() - 2);
    fit.slope_standard_error = finite_statistic((unit * std::sqrt(variance / uu)).value());
  }
  return fit;
}

}  // namespace hesscope
