// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/plot/scale.h>

namespace hesscope::plot {
namespace {

constexpr const char* kMinus = "\u2212";
constexpr double kSlack = 1e-9;    // of the range: a tick at its very end is in it
constexpr int kMostDecades = 100;  // with a tick each; beyond, only labelled ones have a tick

std::string with_minus(std::string text) {
  if (text.starts_with('-')) text.replace(0, 1, kMinus);
  return text;
}

// A power of ten, or a digit times one.
std::string power_text(int exponent, int digit = 1) {
  const std::string power = fmt::format("10^{{{}}}", with_minus(std::to_string(exponent)));
  return digit == 1 ? power : fmt::format("{}\u00d7{}", digit, power);
}

// The same, written out; used for a few decades around 1.
std::string decimal_text(int exponent, int digit) {
  return fmt::format("{:.{}f}", digit * std::pow(10.0, exponent), std::max(0, -exponent));
}

double power_of_ten(int exponent) { return std::pow(10.0, exponent); }

// A step of 1, 2 or 5 times 10^power.
struct Step {
  int digit = 1;
  int power = 0;

  double value() const { return digit * power_of_ten(power); }
};

// The smallest such step with at most `target` intervals.
Step step_for(double half_range, std::size_t target) {
  const double rough = half_range / static_cast<double>(target) * 2;
  Step step{1, static_cast<int>(std::floor(std::log10(rough)))};
  for (const int digit : {1, 2, 5, 10}) {
    step.digit = digit;
    if (step.value() >= rough * (1 - kSlack)) break;
  }
  if (step.digit == 10) step = {1, step.power + 1};
  return step;
}

// Multiples k of the step within the scale; k is exact, the value is not.
Ticks linear_ticks(const Scale& scale, std::size_t target, bool whole_numbers) {
  Step step = step_for(scale.upper() / 2 - scale.lower() / 2, target);
  if (whole_numbers && step.power < 0) step = {1, 0};
  const double size = step.value();
  const double slack = kSlack * (scale.upper() / size - scale.lower() / size);
  const double first = std::ceil(scale.lower() / size - slack);
  const double last = std::floor(scale.upper() / size + slack);

  Ticks found;
  const double largest = std::max(std::abs(first), std::abs(last)) * size;
  constexpr double kLargest = 99'999;
  constexpr double kSmallest = 1e-3;
  if (largest > kLargest || (largest > 0 && largest < kSmallest)) {
    found.exponent = static_cast<int>(std::floor(std::log10(largest) + kSlack));
  }
  const int power = step.power - found.exponent;
  const int decimals = std::clamp(-power, 0, 15);
  for (double k = first; k <= last; k += 1) {
    if (k + 1 == k) break;  // the range is narrower than the last digits of its numbers
    const double unit = k * step.digit;
    const double shown = power < 0 ? unit / power_of_ten(-power) : unit * power_of_ten(power);
    const double value =
        step.power < 0 ? unit / power_of_ten(-step.power) : unit * power_of_ten(step.power);
    found.ticks.push_back(
        {value, with_minus(fmt::format("{:.{}f}", shown == 0 ? 0.0 : shown, decimals))});
  }
  return found;
}

// Ticks at linear steps, all written out: for other axes than linear ones, of about a decade.
Ticks narrow_ticks(const Scale& scale, std::size_t target) {
  Ticks found =
      linear_ticks(Scale(ScaleKind::kLinear, scale.lower(), scale.upper()), target, false);
  if (found.exponent == 0) return found;
  for (Tick& tick : found.ticks) {
    tick.label = tick.value == 0 ? "0" : tick.label + "\u00d7" + power_text(found.exponent);
  }
  found.exponent = 0;
  return found;
}

Ticks log_ticks(const Scale& scale, std::size_t target) {
  const double low = std::log10(scale.lower());
  const double high = std::log10(scale.upper());
  if (high - low < 1) return narrow_ticks(scale, target);
  const double slack = kSlack * (high - low);
  const int first = static_cast<int>(std::floor(low));
  const int last = static_cast<int>(std::ceil(high));
  const auto decades =
      static_cast<std::size_t>(std::floor(high + slack) - std::ceil(low - slack)) + 1;
  const int stride = static_cast<int>(detail::ceil_div(decades, target));
  constexpr std::size_t kMinorDecades = 12;
  const bool is_plain = low >= -3 - slack && high <= 3 + slack;  // 0.001 to 1000
  const bool has_2_and_5 = decades * 3 <= target + 1 && (is_plain || decades <= 1);
  Ticks found;
  for (int decade = first; decade <= last; ++decade) {
    // Strides are counted from 1, so that 1 is labelled whatever the range.
    const bool is_labelled = decade % stride == 0;
    for (int digit = 1; digit <= 9; ++digit) {
      const double at = decade + std::log10(digit);
      if (!(at >= low - slack && at <= high + slack)) continue;
      if (digit > 1 && (stride > 1 || decades > kMinorDecades)) break;
      if (!is_labelled && decades > kMostDecades) break;
      Tick tick{digit * power_of_ten(decade), {}};
      if ((digit == 1 && is_labelled) || (has_2_and_5 && (digit == 2 || digit == 5))) {
        tick.label = is_plain ? decimal_text(decade, digit) : power_text(decade, digit);
      }
      if (tick.value > 0 && std::isfinite(tick.value)) found.ticks.push_back(std::move(tick));
    }
  }
  return found;
}

// Ticks of the scale that shows -x where `scale` shows x.
Ticks mirrored(Ticks found) {
  std::reverse(found.ticks.begin(), found.ticks.end());
  for (Tick& tick : found.ticks) {
    tick.value = -tick.value;
    if (!tick.label.empty()) tick.label = kMinus + tick.label;
  }
  return found;
}

Ticks signed_log_ticks(const Scale& scale, std::size_t target) {
  // Numbers of one sign beyond the threshold are on a logarithmic axis.
  if (scale.lower() >= scale.threshold()) {
    return log_ticks(Scale(ScaleKind::kLog, scale.lower(), scale.upper()), target);
  }
  if (scale.upper() <= -scale.threshold()) {
    return mirrored(log_ticks(Scale(ScaleKind::kLog, -scale.upper(), -scale.lower()), target));
  }
  // Decades of either sign, starting at the threshold.
  const double largest = std::max(std::abs(scale.lower()), std::abs(scale.upper()));
  const int first = static_cast<int>(std::floor(std::log10(scale.threshold()) + kSlack));
  const int last = static_cast<int>(std::floor(std::log10(largest) + kSlack));
  if (last <= first) return narrow_ticks(scale, target);
  const bool both = scale.lower() < 0 && scale.upper() > 0;
  const int room = std::max<int>(1, static_cast<int>(target - 1) / (both ? 2 : 1));
  const int stride = std::max(1, detail::ceil_div(last - first, room));
  Ticks found;
  // The outermost decade is labelled, and others inwards from there.
  for (int decade = last; decade >= first; --decade) {
    const bool is_labelled = (last - decade) % stride == 0 && decade > first;
    if (!is_labelled && last - first > kMostDecades) continue;
    for (const int sign : {-1, 1}) {
      const double value = sign * power_of_ten(decade);
      if (!(value >= scale.lower() && value <= scale.upper())) continue;
      const std::string text = (sign < 0 ? kMinus : "") + power_text(decade);
      found.ticks.push_back({value, is_labelled ? text : std::string()});
    }
  }
  if (scale.lower() <= 0 && scale.upper() >= 0) found.ticks.push_back({0, "0"});
  std::sort(found.ticks.begin(), found.ticks.end(), [](const Tick& a, const Tick& b) {
    return a.value < b.value;
  });
  return found;
}

bool has_label(const Ticks& found) {
  return std::any_of(
      found.ticks.begin(), found.ticks.end(), [](const Tick& tick) { return !tick.label.empty(); });
}

}  // namespace

Ticks choose_ticks(const Scale& scale, std::size_t target, bool whole_numbers) {
  if (target == 0) throw PreconditionError("choose_ticks: target must be at least 1, got 0");
  Ticks found;
  switch (scale.kind()) {
    case ScaleKind::kLinear:
      found = linear_ticks(scale, target, whole_numbers);
      break;
    case ScaleKind::kLog:
      found = log_ticks(scale, target);
      break;
    case ScaleKind::kSignedLog:
      found = signed_log_ticks(scale, target);
      break;
  }
  // A range without a round number: label its ends.
  if (!has_label(found)) {
    found.ticks = {{scale.lower(), short_number(scale.lower())},
                   {scale.upper(), short_number(scale.upper())}};
    found.exponent = 0;
  }
  return found;
}

std::string short_number(double value, int digits) {
  if (!std::isfinite(value))
    return std::isnan(value) ? "\u2013" : value > 0 ? "\u221e" : "\u2212\u221e";
  const std::string text = fmt::format("{:.{}g}", value, digits);
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return with_minus(text);
  const int exponent = std::stoi(text.substr(e + 1));
  return with_minus(
      fmt::format("{}\u00d710^{{{}}}", text.substr(0, e), with_minus(std::to_string(exponent))));
}

}  // namespace hesscope::plot
