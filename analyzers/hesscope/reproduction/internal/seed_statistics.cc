// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/internal/wide.h>
#include <hesscope/reproduction/internal/seed_statistics.h>

namespace hesscope::detail {

namespace {

struct Moments {
  double mean;
  double deviation;  ///< NaN for a single value
};

// At least one value must be finite.
Moments moments(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  Wide sum;
  for (const double value : values) sum += value;
  Moments found{.mean = (sum / count).value(), .deviation = kNaN};
  if (values.size() == 1) return found;
  Wide squares;
  for (const double value : values) {
    const Wide deviation = Wide(value) - found.mean;
    squares += deviation * deviation;
  }
  found.deviation = sqrt(squares / (count - 1)).value();
  return found;
}

// The number of decimals that gives a number that many significant digits.
int decimals_of(double value, int digits) {
  return digits - 1 - static_cast<int>(std::floor(std::log10(std::abs(value))));
}

}  // namespace

double quantile(std::span<const double> ascending, double share) {
  if (ascending.empty()) return kNaN;
  const double place = share * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  return std::lerp(ascending[below], ascending[above], place - static_cast<double>(below));
}

SeedStatistics seed_statistics(std::span<const double> values) {
  std::vector<double> finite;
  std::ranges::copy_if(
      values, std::back_inserter(finite), [](double value) { return std::isfinite(value); });
  SeedStatistics found;
  found.count = static_cast<std::int64_t>(finite.size());
  if (finite.empty()) return found;
  const Moments plain = moments(finite);
  found.mean = plain.mean;
  found.deviation = plain.deviation;
  std::ranges::sort(finite);
  found.minimum = finite.front();
  found.maximum = finite.back();
  const std::size_t half = finite.size() / 2;
  found.median = finite.size() % 2 == 1 ? finite[half] : finite[half - 1] / 2 + finite[half] / 2;
  found.lower_quartile = quantile(finite, 0.25);
  found.upper_quartile = quantile(finite, 0.75);
  if (!(found.minimum > 0)) return found;
  for (double& value : finite) value = std::log(value);
  const Moments logs = moments(finite);
  found.log_mean = logs.mean;
  found.log_deviation = logs.deviation;
  return found;
}

std::string digits_text(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.3g}", value);
}

std::string mean_text(const SeedStatistics& statistics) {
  const bool has_deviation = !std::isnan(statistics.deviation);
  const bool has_sampling_error = !std::isnan(statistics.sampling_error);
  if (!has_deviation && !has_sampling_error) return digits_text(statistics.mean);
  return fmt::format(
      "{} ({}{})",
      digits_text(statistics.mean),
      digits_text(statistics.deviation),
      has_sampling_error ? "; " + digits_text(statistics.sampling_error) : std::string());
}

std::vector<std::string> column_texts(std::span<const SeedStatistics> column) {
  constexpr int kMostDecimals = 5;
  constexpr double kLargest = 1e5;
  int decimals = 0;
  double largest = 0;  // of the means
  double widest = 0;   // of the deviations
  for (const SeedStatistics& cell : column) {
    widest = std::fmax(widest, cell.deviation);
    if (std::isnan(cell.mean) || cell.mean == 0) continue;
    decimals = std::max(decimals, decimals_of(cell.mean, 2));
    largest = std::max(largest, std::abs(cell.mean));
  }
  if (largest > 0) decimals = std::max(decimals, decimals_of(largest, 3));
  const bool has_powers = decimals > kMostDecimals || std::max(largest, widest) >= kLargest;
  const auto text = [&](double value) {
    if (std::isnan(value)) return std::string("-");
    return has_powers ? fmt::format("{:.2e}", value) : fmt::format("{:.{}f}", value, decimals);
  };
  std::vector<std::string> texts;
  for (const SeedStatistics& cell : column) {
    texts.push_back(std::isnan(cell.deviation)
                        ? text(cell.mean)
                        : fmt::format("{} ({})", text(cell.mean), text(cell.deviation)));
  }
  return texts;
}

}  // namespace hesscope::detail
