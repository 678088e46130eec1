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
  kUndecided,  ///< no further apart than the spreads, but much else would not be, either
  kDisagrees,
};

struct Verdict {
  Agreement agreement = Agreement::kNone;
  std::string text;
};

/// Of two means with spreads over seeds: they agree where they are no further apart than the sum s of
/// both spreads and of our sampling error, and disagree where they are. But where a number half or
/// twice the published one, or one on the other side of `divide`, is within s of it, too, agreement
/// says nothing: it is undecided. A number without a spread disagrees where ours is less than half
/// of it or more than twice, or on the other side of `divide`. A claimed range (PublishedValue::least
/// to most) agrees with a mean in it, disagrees with one further off than our own spread.
Verdict verdict(const PublishedValue& published,
                const SeedStatistics& own,
                std::optional<double> divide);

/// The same in a sentence, for the reader of a table.
extern const char* const kVerdictRule;

}  // namespace hesscope::detail
