// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/statistics/internal/centered.h>

namespace hesscope::detail {

Centered centered(const Eigen::Ref<const Eigen::VectorXd>& values, double reference) {
  const double largest = values.cwiseAbs().maxCoeff();
  const int exponent = largest > 0.0 ? std::ilogb(largest) : 0;
  const double scaled_reference = std::ldexp(reference, -exponent);
  Eigen::VectorXd shifted = values.unaryExpr(
      [&](double value) { return std::ldexp(value, -exponent) - scaled_reference; });
  CompensatedSum sum;
  for (const double difference : shifted) sum.add(difference);
  const double shift = sum.value() / static_cast<double>(values.size());
  shifted.array() -= shift;
  const double scale = shifted.cwiseAbs().maxCoeff();
  if (scale > 0.0) shifted /= scale;
  return {std::ldexp(scaled_reference + shift, exponent), ldexp(Wide(scale), exponent), shifted};
}

double lower_median_of(Eigen::VectorXd values) {
  double* middle = values.data() + (values.size() - 1) / 2;
  std::nth_element(values.data(), middle, values.data() + values.size());
  return *middle;
}

void require_values(const char* function,
                    const Eigen::Ref<const Eigen::VectorXd>& values,
                    Eigen::Index least) {
  if (values.size() < least) {
    throw PreconditionError(fmt::format(
        "{}: values must be at least {} number(s), got {}", function, least, values.size()));
  }
}

}  // namespace hesscope::detail
