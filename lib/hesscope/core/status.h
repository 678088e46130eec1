// SPDX-License-Identifier: BSD-3-Clause
//
// Why a number is present or missing. A quantity that could not be computed is NaN together with
// one of these; there are no sentinel values. Result files store it as CF flag_values /
// flag_meanings.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hesscope {

enum class Status : std::int8_t {
  kOk = 0,
  kNotComputed = 1,                   ///< not asked for, or the unit was skipped
  kNonFinite = 2,                     ///< the inputs or the result contain NaN or infinity
  kFailed = 3,                        ///< an algorithm gave no result
  kUndefinedZeroMedian = 4,           ///< ratio by a median that is zero within rounding
  kUndefinedNotPositiveDefinite = 5,  ///< needs lambda_min > 0 beyond rounding
  kUndefinedZeroDenominator = 6,      ///< ratio by another quantity that is zero
  kUndefinedTooFewPoints = 7,         ///< needs more points than there are
  kUndefinedNoOrder = 8,              ///< of a path whose points have no known order
  kNotStored = 9,                     ///< the checkpoint lacks what it is computed from
  kDiffersFromExpected = 10,          ///< there, but not what the user stated
  kUndefinedNotStationary = 11,       ///< holds where the gradient is zero, and it is not
  kUndefinedSingular = 12,            ///< needs an inverse that does not exist
  kUndefinedOtherInertia = 13,        ///< needs the inertia of another matrix, and has its own
  kUndefinedNoPass = 14,              ///< of a pass, on a path without passes
};

/// Meanings in the order of the enumerator values, spelled as in CF flag_meanings.
inline constexpr std::array<std::string_view, 15> kStatusMeanings = {
    "ok",
    "not_computed",
    "non_finite",
    "failed",
    "undefined_zero_median",
    "undefined_not_positive_definite",
    "undefined_zero_denominator",
    "undefined_too_few_points",
    "undefined_no_order",
    "not_stored",
    "differs_from_expected",
    "undefined_not_stationary",
    "undefined_singular",
    "undefined_other_inertia",
    "undefined_no_pass",
};
static_assert(kStatusMeanings.size() == static_cast<std::size_t>(Status::kUndefinedNoPass) + 1);

constexpr std::string_view to_string(Status status) {
  return kStatusMeanings[static_cast<std::size_t>(status)];
}

/// True for values that are there, and for values that cannot exist: either they are mathematically
/// undefined (such as a ratio with zero denominator), or the inputs lack what they are computed
/// from.
constexpr bool is_conclusive(Status status) {
  switch (status) {
    case Status::kOk:
    case Status::kUndefinedZeroMedian:
    case Status::kUndefinedNotPositiveDefinite:
    case Status::kUndefinedZeroDenominator:
    case Status::kUndefinedTooFewPoints:
    case Status::kUndefinedNoOrder:
    case Status::kNotStored:
    case Status::kUndefinedNotStationary:
    case Status::kUndefinedSingular:
    case Status::kUndefinedOtherInertia:
    case Status::kUndefinedNoPass:
      return true;
    case Status::kNotComputed:
    case Status::kNonFinite:
    case Status::kFailed:
    case Status::kDiffersFromExpected:
      return false;
  }
  return false;
}

}  // namespace hesscope
