// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <hesscope/core/constants.h>
#include <hesscope/core/status.h>

namespace hesscope {

/// A number, or the reason why there is none.
struct Statistic {
  double value = kNaN;  ///< NaN unless status is kOk
  Status status = Status::kNotComputed;
};

/// A computed number: kOk, or NaN with kNonFinite if it is NaN or infinite.
inline Statistic finite_statistic(double value) {
  if (std::isfinite(value)) return {value, Status::kOk};
  return {kNaN, Status::kNonFinite};
}

/// NaN with a status other than kOk.
constexpr Statistic missing_statistic(Status status) { return {kNaN, status}; }

}  // namespace hesscope
