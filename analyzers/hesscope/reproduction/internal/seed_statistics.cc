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

// Of at least one finite value.
double median(std::span<const double> values) {
  std::vector<double> sorted;
  std::ranges::copy_if(
      values, std::back_inserter(sorted), [](double value) { return std::isfinite(value); });
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : sorted[half - 1] / 2 + sorted[half] / 2;
}

}  // namespace

SeedStatistics seed_statistics(std::span<const double> values) {
  SeedStatistics found;
  Wide sum;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    found.minimum = found.count == 0 ? value : std::min(found.minimum, value);
    found.maximum = found.count == 0 ? value : std::max(found.maximum, value);
    ++found.count;
  }
  if (found.count == 0) return found;
  found.median = median(values);
  found.mean = (sum / static_cast<double>(found.count)).value();
  if (found.count == 1) return found;
  Wide squares;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    const Wide deviation = Wide(value) - found.mean;
    squares += deviation * deviation;
  }
  found.deviation = sqrt(squares / static_cast<double>(found.count - 1)).value();
  return found;
}

std::string digits_text(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.3g}", value);
}

std::string mean_text(const SeedStatistics& statistics) {
  if (std::isnan(statistics.deviation)) return digits_text(statistics.mean);
  return fmt::format("{} ({})", digits_text(statistics.mean), digits_text(statistics.deviation));
}

}  // namespace hesscope::detail
