// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <hesscope/analyzers/internal/interval_flag.h>
#include <hesscope/analyzers/internal/papers.h>

namespace hesscope::detail {
namespace {

constexpr const char* kOfDistance = "nearer than 3 standard errors of their distance";
constexpr const char* kMisses =
    "the interval then misses the population's value far more often than the level says";
constexpr const char* kMayMiss = "the interval may then be too wide or too narrow";

// The numbers whose extremes and medians are taken.
constexpr const char* kEigenvalues = "eigenvalues";
constexpr const char* kMagnitudes = "magnitudes of eigenvalues";
constexpr const char* kEntries = "magnitudes of diagonal entries";

std::string rule_of_extreme(std::string_view name) {
  return fmt::format(
      "crowded where |{}_bias| > {}_standard_error{}, or the next eigenvalue is {}: {}",
      name,
      name,
      name == "lambda_min" ? "" : " / 2",
      kOfDistance,
      kMisses);
}

std::string rule_of_median(std::string_view name, std::string_view numbers) {
  return fmt::format(
      "crowded_median where the next of the {} on either side is {}: {}; otherwise crowded where "
      "|{}_bias| > {}_standard_error / 2",
      numbers,
      kOfDistance,
      kMayMiss,
      name,
      name);
}

std::string rule_of_ratio(std::string_view name, std::string_view numbers) {
  return fmt::format(
      "crowded where the largest of the {} has a |bias| above half its standard error, or the next "
      "one is {}: {}; otherwise {}",
      numbers,
      kOfDistance,
      kMisses,
      rule_of_median(name, numbers));
}

std::string rule_of(SpectralFigure figure) {
  const std::string_view name = kSpectralFigureNames[index_of(figure)];
  switch (figure) {
    case SpectralFigure::kLambdaMedian:
      return rule_of_median(name, kEigenvalues);
    case SpectralFigure::kMedianMagnitude:
      return rule_of_median(name, kMagnitudes);
    case SpectralFigure::kRobustEigenvalue:
      return rule_of_ratio(name, kEigenvalues);
    case SpectralFigure::kRobustAbsolute:
      return rule_of_ratio(name, kMagnitudes);
    case SpectralFigure::kRobustDiagonal:
      return rule_of_ratio(name, kEntries);
    default:
      return rule_of_extreme(name);
  }
}

std::string unknown_of(std::string_view name) {
  constexpr const char* kNoInterval = "unknown where there is no interval";
  const bool is_ratio = name.starts_with("robust");
  if (is_ratio && name != "robust_eigenvalue") return kNoInterval;
  return fmt::format(
      "{}, or {} is zero within rounding, both for all samples and without any one block",
      kNoInterval,
      is_ratio ? "lambda_max" : name);
}

}  // namespace

Variable interval_flag(SpectralFigure figure) {
  const std::string name(kSpectralFigureNames[index_of(figure)]);
  return {.name = name + "_interval",
          .type = VariableType::kInt8,
          .long_name = "whether the confidence interval of " + name + " can be used",
          .definition = fmt::format(
              "by the jackknife of the interval: {}; usable otherwise, {}; only what exceeds "
              "rounding counts as a bias, and numbers that are equal within rounding count as one",
              rule_of(figure),
              unknown_of(name)),
          .references = {papers::kBusing},
          .flag_meanings = {kIntervalUseMeanings.begin(), kIntervalUseMeanings.end()}};
}

}  // namespace hesscope::detail
