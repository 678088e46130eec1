// SPDX-License-Identifier: BSD-3-Clause
//
// What is drawn of several seeds: a line in its band.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <hesscope/reproduction/internal/seed_statistics.h>

namespace hesscope::detail {

/// Which number stands for several seeds.
enum class Centre : std::uint8_t { kMean, kGeometricMean, kMedian };

/// By its name in an experiment file. "auto": the mean on a linear axis. Elsewhere a mean hugs the
/// largest seed and a band around it may go below zero: the geometric mean on a logarithmic axis,
/// if all numbers have one, and otherwise the median, which no axis changes.
Centre centre_of(const std::string& name, const std::string& scale, std::span<const double> values);

std::string words_for(Centre centre);

/// What the band is, in words.
std::string words_for_band(const std::string& band, Centre centre);

struct Centred {
  double centre = kNaN;
  double low = kNaN;
  double high = kNaN;
};

/// @param band  "std/4", "std/2", "std", of a median the quartiles; "min-max".
Centred centred(const SeedStatistics& statistics, const std::string& band, Centre centre);

/// Where a signed logarithmic axis is to turn linear: at the magnitude that nine in ten of the
/// numbers reach, so that a few which happen to be close to zero do not take most of the axis. 0 of
/// none.
double signed_threshold(std::span<const double> values);

}  // namespace hesscope::detail
