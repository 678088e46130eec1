// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include <hesscope/reproduction/internal/centre_line.h>

namespace hesscope::detail {

Centre centre_of(const std::string& name,
                 const std::string& scale,
                 std::span<const double> values) {
  if (name == "mean") return Centre::kMean;
  if (name == "geometric-mean") return Centre::kGeometricMean;
  if (name == "median") return Centre::kMedian;
  if (scale == "linear") return Centre::kMean;
  const bool is_positive = std::ranges::none_of(values, [](double value) { return value <= 0; });
  return scale == "log" && is_positive ? Centre::kGeometricMean : Centre::kMedian;
}

std::string words_for(Centre centre) {
  switch (centre) {
    case Centre::kGeometricMean:
      return "geometric mean";
    case Centre::kMedian:
      return "median";
    case Centre::kMean:
      break;
  }
  return "mean";
}

std::string words_for_band(const std::string& band, Centre centre) {
  if (band == "none") return "left out";
  if (band == "min-max") return "from the least to the largest seed";
  if (centre == Centre::kMedian) return "from the lower to the upper quartile";
  if (centre == Centre::kMean) return "the mean +- " + band;
  return fmt::format("the geometric mean times and over exp({}), std that of the logarithms", band);
}

Centred centred(const SeedStatistics& statistics, const std::string& band, Centre centre) {
  const double part = band == "std/4" ? 0.25 : band == "std/2" ? 0.5 : 1;
  const auto half = [&](double deviation) {
    return statistics.count == 1 ? 0 : part * deviation;  // a single seed has no spread
  };
  Centred drawn;
  switch (centre) {
    case Centre::kMedian:
      drawn = {statistics.median, statistics.lower_quartile, statistics.upper_quartile};
      break;
    case Centre::kGeometricMean: {
      const double factor = std::exp(half(statistics.log_deviation));
      drawn.centre = std::exp(statistics.log_mean);
      drawn.low = drawn.centre / factor;
      drawn.high = drawn.centre * factor;
      break;
    }
    case Centre::kMean:
      drawn.centre = statistics.mean;
      drawn.low = statistics.mean - half(statistics.deviation);
      drawn.high = statistics.mean + half(statistics.deviation);
      break;
  }
  if (band == "min-max") {
    drawn.low = statistics.minimum;
    drawn.high = statistics.maximum;
  }
  return drawn;
}

double signed_threshold(std::span<const double> values) {
  std::vector<double> magnitudes;
  for (const double value : values) {
    if (std::isfinite(value) && value != 0) magnitudes.push_back(std::abs(value));
  }
  std::ranges::sort(magnitudes);
  return magnitudes.empty() ? 0 : quantile(magnitudes, 0.1);
}

}  // namespace hesscope::detail
