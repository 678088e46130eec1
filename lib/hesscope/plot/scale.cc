// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/plot/scale.h>

namespace hesscope::plot {
namespace {

constexpr double kFarAway = 1e6;
constexpr double kLargeArgument = 700;  // of sinh: beyond it, half an exponential overflows
constexpr double kOneNumber = 1e-12;    // numbers with a smaller relative difference count as equal
constexpr double kTiniest = std::numeric_limits<double>::min();
constexpr double kMax = std::numeric_limits<double>::max();

}  // namespace

std::string_view to_string(ScaleKind kind) {
  switch (kind) {
    case ScaleKind::kLog:
      return "log";
    case ScaleKind::kSignedLog:
      return "signed-log";
    case ScaleKind::kLinear:
      break;
  }
  return "linear";
}

bool is_drawable(ScaleKind kind, double value) {
  return std::isfinite(value) && (kind != ScaleKind::kLog || value >= kTiniest);
}

Scale::Scale(ScaleKind kind, double lower, double upper, double threshold)
    : kind_(kind), lower_(lower), upper_(upper), threshold_(threshold) {
  if (!is_drawable(kind, lower) || !is_drawable(kind, upper) || !(lower < upper)) {
    throw PreconditionError(fmt::format("Scale: needs lower < upper, finite{}, got {} and {}",
                                        kind == ScaleKind::kLog ? " and positive" : "",
                                        lower,
                                        upper));
  }
  if (kind == ScaleKind::kSignedLog && !(threshold > 0 && std::isfinite(threshold))) {
    throw PreconditionError(
        fmt::format("Scale: threshold must be positive and finite, got {}", threshold));
  }
  start_ = forward(lower);
  length_ = forward(upper) - start_;
  if (!(length_ > 0)) {
    throw PreconditionError(fmt::format("Scale: {} and {} are too near one another", lower, upper));
  }
}

// Halved, so that the length of a range cannot overflow.
double Scale::forward(double value) const {
  switch (kind_) {
    case ScaleKind::kLog:
      return std::log10(value);
    case ScaleKind::kSignedLog: {
      const double ratio = value / 2 / threshold_;
      if (std::isfinite(ratio)) return std::asinh(ratio);
      return std::copysign(std::log(std::abs(value)) - std::log(threshold_), value);
    }
    case ScaleKind::kLinear:
      break;
  }
  return value / 2;
}

double Scale::place(double value) const {
  if (!is_drawable(kind_, value)) return kNaN;
  return std::clamp((forward(value) - start_) / length_, -kFarAway, kFarAway);
}

double Scale::value(double place) const {
  const double at = start_ + place * length_;
  switch (kind_) {
    case ScaleKind::kLog:
      return std::pow(10.0, at);
    case ScaleKind::kSignedLog:
      if (std::abs(at) < kLargeArgument) return 2 * threshold_ * std::sinh(at);
      return std::copysign(std::exp(std::abs(at) + std::log(threshold_)), at);
    case ScaleKind::kLinear:
      break;
  }
  return 2 * at;
}

Scale enclosing_scale(ScaleKind kind,
                      const std::vector<double>& values,
                      double margin,
                      double threshold) {
  double lower = kInfinity;
  double upper = -lower;
  for (const double value : values) {
    if (!is_drawable(kind, value)) continue;
    lower = std::min(lower, value);
    upper = std::max(upper, value);
  }
  if (!(lower <= upper)) return kind == ScaleKind::kLog ? Scale(kind, 1, 10) : Scale(kind, 0, 1);
  const double largest = std::max(std::abs(lower), std::abs(upper));
  if (kind == ScaleKind::kSignedLog && !(threshold > 0)) {
    threshold = largest > 0 ? std::max(largest * 1e-3, kTiniest) : 1;
  }
  const double half_length = upper / 2 - lower / 2;
  if (!(half_length > kOneNumber * largest && half_length >= kTiniest)) {
    if (kind == ScaleKind::kLog) {
      lower = std::max(lower / 2, kTiniest);
      upper = upper < kMax / 2 ? 2 * upper : kMax;
    } else {
      const double half = largest >= kTiniest * 1e10 ? largest / 2 : 1;
      lower = std::max(lower - half, -kMax);
      upper = std::min(upper + half, kMax);
    }
    return {kind, lower, upper, threshold > 0 ? threshold : 1};
  }
  const Scale tight(kind, lower, upper, threshold > 0 ? threshold : 1);
  const double wide_lower = tight.value(-margin);
  const double wide_upper = tight.value(1 + margin);
  const bool fits = is_drawable(kind, wide_lower) && is_drawable(kind, wide_upper);
  return fits ? Scale(kind, wide_lower, wide_upper, tight.threshold()) : tight;
}

std::vector<std::size_t> evenly_spread(std::size_t count, std::size_t most) {
  std::vector<std::size_t> chosen;
  const std::size_t kept = std::min(count, most);
  for (std::size_t k = 0; k < kept; ++k) {
    chosen.push_back(kept == 1 ? count - 1 : k * (count - 1) / (kept - 1));
  }
  return chosen;
}

}  // namespace hesscope::plot
