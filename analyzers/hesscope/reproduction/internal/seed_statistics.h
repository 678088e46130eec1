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
  std::int64_t count = 0;  ///< of numbers that are there; the others take no part
  double mean = kNaN;
  /// sqrt(sum (x - mean)^2 / (count - 1)); NaN for fewer than two.
  double deviation = kNaN;
  double minimum = kNaN;
  double maximum = kNaN;
  double median = kNaN;  ///< of an even count the mean of the middle two
  /// Mean over seeds of the standard error that the choice of samples leaves, where it is known.
  double sampling_error = kNaN;
  /// Quartiles, linear between the order statistics around them, as NumPy's.
  double lower_quartile = kNaN;
  double upper_quartile = kNaN;
  /// Mean and deviation of the natural logarithms; NaN where a number is not above zero.
  double log_mean = kNaN;
  double log_deviation = kNaN;
};

SeedStatistics seed_statistics(std::span<const double> values);

/// "1.58 (0.41)", "1.58" of one seed, "-" of none; "1.58 (0.41; 0.2)" with a sampling error.
std::string mean_text(const SeedStatistics& statistics);

/// Three significant digits; "-" for NaN.
std::string digits_text(double value);

/// The place `share` of the way through ascending numbers, linear between two of them; NaN of none.
double quantile(std::span<const double> ascending, double share);

/// A column of a table as mean_text(), in one precision: as many decimals as give each mean two
/// significant digits or more and one of them three, and powers of ten throughout where that would
/// be more than five or numbers reach 10^5.
std::vector<std::string> column_texts(std::span<const SeedStatistics> column);

}  // namespace hesscope::detail
