// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <functional>

#include <hesscope/core/constants.h>
#include <hesscope/statistics/internal/centered.h>
#include <hesscope/statistics/tail_index.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kRounding = 16 * kEpsilon;

// log(a / b) for a >= b > 0, accurate even if they are close.
double log_ratio(double a, double b) {
  const double excess = (a - b) / b;
  return std::isfinite(excess) ? std::log1p(excess) : std::log(a) - std::log(b);
}

}  // namespace

// k H_k = sum_{i <= k} i log(X_(i) / X_(i+1)): no term is negative, so nothing cancels.
TailIndex tail_index(const Eigen::Ref<const VectorXd>& values) {
  detail::require_values("tail_index", values, 1);
  TailIndex result;
  if (!values.allFinite()) {
    result.status = Status::kNonFinite;
    result.index = missing_statistic(Status::kNonFinite);
    result.standard_error = result.index;
    return result;
  }
  VectorXd x = values;
  std::sort(x.begin(), x.end(), std::greater<>());
  const Index largest_count = x.size() / 2;
  result.by_count = VectorXd::Constant(largest_count, kNaN);
  detail::CompensatedSum sum;
  for (Index k = 1; k <= largest_count && x[k] > 0.0; ++k) {
    sum.add(static_cast<double>(k) * log_ratio(x[k - 1], x[k]));
    const auto count = static_cast<double>(k);
    if (sum.value() > kRounding * count) result.by_count[k - 1] = count / sum.value();
  }
  result.status = Status::kOk;
  const auto root = static_cast<Index>(std::sqrt(static_cast<double>(x.size())));
  result.count = std::min(root, largest_count);
  if (result.count == 0) {
    result.index = missing_statistic(Status::kUndefinedTooFewPoints);
    result.standard_error = result.index;
    return result;
  }
  const double index = result.by_count[result.count - 1];
  if (std::isnan(index)) {
    result.index = missing_statistic(Status::kUndefinedZeroDenominator);
    result.standard_error = result.index;
  } else {
    result.index = finite_statistic(index);
    result.standard_error = finite_statistic(index / std::sqrt(static_cast<double>(result.count)));
  }
  return result;
}

}  // namespace hesscope
