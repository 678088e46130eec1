// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/internal/wide.h>
#include <hesscope/reproduction/internal/verdict.h>
#include <hesscope/spectra/internal/jackknife.h>

namespace hesscope::detail {
namespace {

// The variance of a mean, and the degrees of freedom of its estimate: infinitely many for a
// variance that is given.
class MeanVariance {
 public:
  // Adds a deviation over seeds; does nothing if it is not known.
  void add_seeds(double deviation, std::int64_t count) {
    if (std::isnan(deviation)) return;
    const Wide variance = Wide(deviation) * deviation / static_cast<double>(count);
    sum_ += variance;
    if (count > 1) uncertainty_ += variance * variance / static_cast<double>(count - 1);
  }

  void add_sampling_error(double error) {
    if (!std::isnan(error)) sum_ += Wide(error) * error;
  }

  // t sqrt(sum v_i), where chance exceeds t with probability 0.05 in Student's distribution with
  // (sum v_i)^2 / sum(v_i^2 / (n_i - 1)) degrees of freedom.
  double reach() const {
    constexpr double kLevel = 0.95;
    constexpr double kAsGoodAsNormal = 1e9;
    const double degrees =
        uncertainty_ > 0 ? (sum_ * sum_ / uncertainty_).value() : kAsGoodAsNormal;
    return (two_sided_t(kLevel, std::min(degrees, kAsGoodAsNormal)) * sqrt(sum_)).value();
  }

 private:
  Wide sum_;
  Wide uncertainty_;
};

MeanVariance variance_of(const SeedStatistics& own) {
  MeanVariance variance;
  variance.add_seeds(own.deviation, own.count);
  variance.add_sampling_error(own.sampling_error);
  return variance;
}

Verdict of_range(const PublishedValue& published, const SeedStatistics& own) {
  const double least = published.least.value_or(-kInfinity);
  const double most = published.most.value_or(kInfinity);
  if (own.mean >= least && own.mean <= most) return {Agreement::kAgrees, "agrees"};
  const std::string text = fmt::format("outside of {}", published_text(published));
  const double distance = own.mean < least ? least - own.mean : own.mean - most;
  if (distance <= variance_of(own).reach()) {
    return {Agreement::kUndecided, fmt::format("undecided: {}, but not beyond chance", text)};
  }
  return {Agreement::kDisagrees, "disagrees: " + text};
}

}  // namespace

const char* const kVerdictRule =
    "Two means agree here where they are no further apart than chance explains at level 0.95 by "
    "Welch's t test, over seeds and samples, and it is undecided where half the number, or one "
    "that says the contrary, would be no further off, either; where one has no spread, only a "
    "ratio outside of 1/2 to 2 disagrees; a claimed range agrees with a mean in it.";

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
    MeanVariance variance = variance_of(own);
    variance.add_seeds(*published.deviation, published.num_seeds.value_or(own.count));
    s = variance.reach();
  }
  if (divide && (own.mean - *divide) * (published.mean - *divide) < 0) {
    const std::string text = fmt::format("other side of {}", *divide);
    if (distance > s) return {Agreement::kDisagrees, "disagrees: " + text};
    return {Agreement::kUndecided, fmt::format("undecided: {}, but not beyond chance", text)};
  }
  if (!has_spreads) {
    if (distance == 0) return {Agreement::kAgrees, "equal"};
    const double ratio = own.mean / published.mean;
    const std::string text = fmt::format("ratio {}", digits_text(ratio));
    if (ratio >= 0.5 && ratio <= 2) return {Agreement::kAgrees, text};
    return {Agreement::kDisagrees, "disagrees: " + text};
  }
  if (!(distance <= s)) return {Agreement::kDisagrees, "disagrees"};
  if (divide && std::abs(published.mean - *divide) <= s) {
    return {Agreement::kUndecided, fmt::format("undecided: {} is no further off", *divide)};
  }
  if (s > 0 && std::abs(published.mean) / 2 <= s) {
    return {Agreement::kUndecided, "undecided: half the number is no further off"};
  }
  return {Agreement::kAgrees, "agrees"};
}

}  // namespace hesscope::detail
