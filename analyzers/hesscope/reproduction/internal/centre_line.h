// SPDX-License-Identifier: BSD-3-Clause
//
// How several seeds are drawn: a line in its band.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <hesscope/reproduction/internal/seed_statistics.h>

namespace hesscope::detail {

/// Which number represents several seeds.
enum class Centre : std::uint8_t { kMean, kGeometricMean, kMedian };

/// By its name in an experiment file. "auto": the mean on a linear axis. On other axes, a mean is
/// close to the largest seed, and a band around it may extend below zero. So "auto" is the
/// geometric mean on a logarithmic axis if all numbers are above zero, and otherwise the median,
/// which no axis changes.
Centre centre_of(const std::string& name, const std::string& scale, std::span<const double> values);

std::string words_for(Centre centre);

/// The meaning of the band, in words.
std::string words_for_band(const std::string& band, Centre centre);

struct Centred {
  double centre = kNaN;
  double low = kNaN;
  double high = kNaN;
};

/// @param band  "std/4", "std/2", "std", with a median the quartiles; "min-max".
Centred centred(const SeedStatistics& statistics, const std::string& band, Centre centre);

/// The magnitude at which a signed logarithmic axis becomes linear: nine in ten of the numbers
/// reach it, so that a few numbers that happen to be near zero do not take most of the axis. 0
/// without numbers.
double signed_threshold(std::span<const double> values);

}  // namespace hesscope::detail
