// SPDX-License-Identifier: BSD-3-Clause
//
// What is said of a published number beside ours.
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
  kUndecided,  ///< no further apart than chance allows, but much else would not be, either
  kDisagrees,
};

struct Verdict {
  Agreement agreement = Agreement::kNone;
  std::string text;
};

/// Of two means with standard deviations d over n seeds each, and our sampling error e:
///   s = t sqrt(v1 + v2 + e^2),   v = d^2 / n,
/// with t the 0.975 quantile of Student's distribution with
/// (v1 + v2 + e^2)^2 / (v1^2 / (n1 - 1) + v2^2 / (n2 - 1)) degrees of freedom (B. L. Welch, 1947).
/// They agree where they are no further apart than s, and disagree where they are. But where a
/// number half the published one, or one on the other side of `divide`, is within s of it, too,
/// agreement says nothing: it is undecided. A number without a deviation disagrees where ours is
/// less than half of it or more than twice, or on the other side of `divide`. A claimed range
/// (PublishedValue::least to most) agrees with a mean in it, and disagrees with one that is further
/// off than s.
Verdict verdict(const PublishedValue& published,
                const SeedStatistics& own,
                std::optional<double> divide);

/// The same in a sentence, for the reader of a table.
extern const char* const kVerdictRule;

/// "1.58 (0.41)", "0.9 to 1.2", "at least 2".
std::string published_text(const PublishedValue& value);

}  // namespace hesscope::detail
