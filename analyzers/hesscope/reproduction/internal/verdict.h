// SPDX-License-Identifier: BSD-3-Clause
//
// The comparison of a published number with ours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <hesscope/reproduction/internal/experiment_figure_kind.h>
#include <hesscope/reproduction/internal/seed_statistics.h>

namespace hesscope::detail {

enum class Agreement : std::int8_t {
  kNone,  ///< there is nothing to compare
  kAgrees,
  kUndecided,  ///< chance may explain the difference, but also much larger ones
  kDisagrees,
};

struct Verdict {
  Agreement agreement = Agreement::kNone;
  std::string text;
};

/// For two means with standard deviations d over n seeds each, and our sampling error e:
///   s = t sqrt(v1 + v2 + e^2),   v = d^2 / n,
/// with t the 0.975 quantile of Student's distribution with
/// (v1 + v2 + e^2)^2 / (v1^2 / (n1 - 1) + v2^2 / (n2 - 1)) degrees of freedom (B. L. Welch, 1947).
/// Two means agree if they are no further apart than s, and disagree otherwise. But if a number
/// half as large as the published one, or one on the other side of `divide`, is also within s,
/// agreement means nothing: the comparison is undecided. A number without a deviation disagrees if
/// ours is less than half of it or more than twice as large, or on the other side of `divide`. A
/// claimed range (PublishedValue::least to most) agrees with a mean in it, and disagrees with one
/// that is further away than s.
Verdict verdict(const PublishedValue& published,
                const SeedStatistics& own,
                std::optional<double> divide);

/// The same in one sentence, for the reader of a table.
extern const char* const kVerdictRule;

/// "1.58 (0.41)", "0.9 to 1.2", "at least 2".
std::string published_text(const PublishedValue& value);

}  // namespace hesscope::detail
