// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/reproduction/internal/verdict.h>

namespace hesscope::detail {
namespace {

double or_zero(double spread) { return std::isnan(spread) ? 0 : spread; }

Verdict of_range(const PublishedValue& published, const SeedStatistics& own) {
  const double least = published.least.value_or(-kInfinity);
  const double most = published.most.value_or(kInfinity);
  if (own.mean >= least && own.mean <= most) return {Agreement::kAgrees, "agrees"};
  const std::string text = fmt::format("outside of {} to {}", least, most);
  const double distance = own.mean < least ? least - own.mean : own.mean - most;
  if (distance <= or_zero(own.deviation) + or_zero(own.sampling_error)) {
    return {Agreement::kUndecided, fmt::format("undecided: {}, but not beyond the spread", text)};
  }
  return {Agreement::kDisagrees, "disagrees: " + text};
}

}  // namespace

const char* const kVerdictRule =
    "Two means with spreads agree here where they are no further apart than the sum s of the "
    "spreads, and it is undecided where a number half or twice as large, or one that says the "
    "contrary, would be no further off, either; where one has no spread, only a ratio outside of "
    "1/2 "
    "to 2 disagrees; a claimed range agrees with a mean in it.";

Verdict verdict(const PublishedValue& published,
                const SeedStatistics& own,
                std::optional<double> divide) {
  if (own.count == 0) return {Agreement::kNone, "we have none"};
  if (published.least || published.most) return of_range(published, own);
  const double distance = std::abs(own.mean - published.mean);
  const bool has_spreads = published.deviation && !std::isnan(own.deviation);
  const double spread =
      has_spreads ? own.deviation + *published.deviation + or_zero(own.sampling_error) : 0;
  if (divide && (own.mean - *divide) * (published.mean - *divide) < 0) {
    const std::string text = fmt::format("other side of {}", *divide);
    if (distance > spread) return {Agreement::kDisagrees, "disagrees: " + text};
    return {Agreement::kUndecided, fmt::format("undecided: {}, but within the spreads", text)};
  }
  if (!has_spreads) {
    const double ratio = own.mean / published.mean;
    const std::string text = fmt::format("ratio {}", digits_text(ratio));
    if (ratio >= 0.5 && ratio <= 2) return {Agreement::kAgrees, text};
    return {Agreement::kDisagrees, "disagrees: " + text};
  }
  if (!(distance <= spread)) return {Agreement::kDisagrees, "disagrees"};
  if (divide && std::abs(published.mean - *divide) <= spread) {
    return {Agreement::kUndecided,
            fmt::format("undecided: the spreads reach to the other side of {}", *divide)};
  }
  if (std::abs(published.mean) / 2 <= spread) {
    return {Agreement::kUndecided, "undecided: half the number would agree, too"};
  }
  return {Agreement::kAgrees, "agrees"};
}

}  // namespace hesscope::detail
