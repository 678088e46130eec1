// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <fmt/format.h>

#include <hesscope/reproduction/internal/verdict.h>

namespace hesscope::detail {
namespace {

// d^2 / n, 0 where it is not known.
double variance_of_mean(double deviation, std::int64_t num_seeds) {
  return std::isnan(deviation) ? 0 : deviation * deviation / static_cast<double>(num_seeds);
}

double squared_sampling_error(const SeedStatistics& own) {
  return std::isnan(own.sampling_error) ? 0 : own.sampling_error * own.sampling_error;
}

Verdict of_range(const PublishedValue& published, const SeedStatistics& own) {
  const double least = published.least.value_or(-kInfinity);
  const double most = published.most.value_or(kInfinity);
  if (own.mean >= least && own.mean <= most) return {Agreement::kAgrees, "agrees"};
  const std::string text = fmt::format("outside of {}", published_text(published));
  const double distance = own.mean < least ? least - own.mean : own.mean - most;
  const double s =
      2 * std::sqrt(variance_of_mean(own.deviation, own.count) + squared_sampling_error(own));
  if (distance <= s) {
    return {Agreement::kUndecided, fmt::format("undecided: {}, but not beyond chance", text)};
  }
  return {Agreement::kDisagrees, "disagrees: " + text};
}

}  // namespace

const char* const kVerdictRule =
    "Two means agree here where they are no further apart than twice the standard error of their "
    "difference, over seeds and samples, and it is undecided where half the number, or one that "
    "says "
    "the contrary, would be no further off, either; where one has no spread, only a ratio outside "
    "of "
    "1/2 to 2 disagrees; a claimed range agrees with a mean in it.";

std::string published_text(const PublishedValue& value) {
  if (value.least && value.most) return fmt::format("{} to {}", *value.least, *value.most);
  if (value.least) return fmt::format("at least {}", *value.least);
  if (value.most) return fmt::format("at most {}", *value.most);
  return mean_text({.count = 1, .mean = value.mean, .deviation = value.deviation.value_or(kNaN)});
}

Verdict verdict(const PublishedValue& published,
                const SeedStatistics& own,
                std::optional<double> divide) {
  if (own.count == 0) return {Agreement::kNone, "we have none"};
  if (published.least || published.most) return of_range(published, own);
  const double distance = std::abs(own.mean - published.mean);
  const bool has_spreads = published.deviation && !std::isnan(own.deviation);
  double s = 0;
  if (has_spreads) {
    s = 2 *
        std::sqrt(variance_of_mean(own.deviation, own.count) +
                  variance_of_mean(*published.deviation, published.num_seeds.value_or(own.count)) +
                  squared_sampling_error(own));
  }
  if (divide && (own.mean - *divide) * (published.mean - *divide) < 0) {
    const std::string text = fmt::format("other side of {}", *divide);
    if (distance > s) return {Agreement::kDisagrees, "disagrees: " + text};
    return {Agreement::kUndecided, fmt::format("undecided: {}, but not beyond chance", text)};
  }
  if (!has_spreads) {
    const double ratio = own.mean / published.mean;
    const std::string text = fmt::format("ratio {}", digits_text(ratio));
    if (ratio >= 0.5 && ratio <= 2) return {Agreement::kAgrees, text};
    return {Agreement::kDisagrees, "disagrees: " + text};
  }
  if (!(distance <= s)) return {Agreement::kDisagrees, "disagrees"};
  if (divide && std::abs(published.mean - *divide) <= s) {
    return {Agreement::kUndecided, fmt::format("undecided: {} is no further off", *divide)};
  }
  if (std::abs(published.mean) / 2 <= s) {
    return {Agreement::kUndecided, "undecided: half the number is no further off"};
  }
  return {Agreement::kAgrees, "agrees"};
}

}  // namespace hesscope::detail
