// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers over seeds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/core/constants.h>

namespace hesscope::detail {

struct SeedStatistics {
  std::int64_t count = 0;  ///< of numbers that exist; the others are ignored
  double mean = kNaN;
  /// sqrt(sum (x - mean)^2 / (count - 1)); NaN for fewer than two.
  double deviation = kNaN;
  double minimum = kNaN;
  double maximum = kNaN;
  double median = kNaN;  ///< for an even count, the mean of the middle two
  /// Mean over seeds of the standard error due to the choice of samples, if it is known.
  double sampling_error = kNaN;
  /// Quartiles, interpolated linearly between order statistics, as in NumPy.
  double lower_quartile = kNaN;
  double upper_quartile = kNaN;
  /// Mean and deviation of the natural logarithms; NaN if a number is not above zero.
  double log_mean = kNaN;
  double log_deviation = kNaN;
};

SeedStatistics seed_statistics(std::span<const double> values);

/// "1.58 (0.41)", "1.58" for one seed, "-" for none; "1.58 (0.41; 0.2)" with a sampling error.
std::string mean_text(const SeedStatistics& statistics);

/// Three significant digits; "-" for NaN.
std::string digits_text(double value);

/// The quantile `share` of ascending numbers, interpolated linearly; NaN if there are none.
double quantile(std::span<const double> ascending, double share);

/// A column of a table in the form of mean_text(), with one precision: as many decimals as give
/// each mean at least two significant digits, and one of them three. Powers of ten throughout if
/// that would be more than five decimals, or if numbers reach 10^5.
std::vector<std::string> column_texts(std::span<const SeedStatistics> column);

}  // namespace hesscope::detail
