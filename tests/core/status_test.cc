// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <set>
#include <string_view>

#include <gtest/gtest.h>

#include <hesscope/core/status.h>

namespace hesscope {
namespace {

TEST(Status, EveryEnumeratorHasItsMeaning) {
  EXPECT_EQ(to_string(Status::kOk), "ok");
  EXPECT_EQ(to_string(Status::kNotComputed), "not_computed");
  EXPECT_EQ(to_string(Status::kNonFinite), "non_finite");
  EXPECT_EQ(to_string(Status::kFailed), "failed");
  EXPECT_EQ(to_string(Status::kUndefinedZeroMedian), "undefined_zero_median");
  EXPECT_EQ(to_string(Status::kUndefinedNotPositiveDefinite), "undefined_not_positive_definite");
  EXPECT_EQ(to_string(Status::kUndefinedZeroDenominator), "undefined_zero_denominator");
  EXPECT_EQ(to_string(Status::kUndefinedTooFewPoints), "undefined_too_few_points");
  EXPECT_EQ(to_string(Status::kUndefinedNoOrder), "undefined_no_order");
  EXPECT_EQ(to_string(Status::kNotStored), "not_stored");
  EXPECT_EQ(to_string(Status::kDiffersFromExpected), "differs_from_expected");
  EXPECT_EQ(to_string(Status::kUndefinedNotStationary), "undefined_not_stationary");
  EXPECT_EQ(to_string(Status::kUndefinedSingular), "undefined_singular");
  EXPECT_EQ(to_string(Status::kUndefinedOtherInertia), "undefined_other_inertia");
  EXPECT_EQ(to_string(Status::kUndefinedNoPass), "undefined_no_pass");
}

// CF flag_meanings is one string of blank-separated words, in step with flag_values.
TEST(Status, MeaningsAreDistinctWordsWithoutBlanks) {
  const std::set<std::string_view> distinct(kStatusMeanings.begin(), kStatusMeanings.end());
  EXPECT_EQ(distinct.size(), kStatusMeanings.size());
  for (const std::string_view meaning : kStatusMeanings) {
    EXPECT_FALSE(meaning.empty());
    EXPECT_TRUE(std::all_of(meaning.begin(), meaning.end(), [](unsigned char c) {
      return std::islower(c) != 0 || c == '_';
    })) << meaning;
  }
}

TEST(Status, NumbersAreThoseOfStoredFiles) {
  static_assert(sizeof(Status) == 1);
  EXPECT_EQ(static_cast<std::int8_t>(Status::kOk), 0);
  EXPECT_EQ(static_cast<std::int8_t>(Status::kNotComputed), 1);
  EXPECT_EQ(static_cast<std::int8_t>(Status::kNonFinite), 2);
  EXPECT_EQ(static_cast<std::int8_t>(Status::kFailed), 3);
  EXPECT_EQ(static_cast<std::int8_t>(Status::kUndefinedZeroMedian), 4);
  EXPECT_EQ(static_cast<std::int8_t>(Status::kUndefinedNotPositiveDefinite), 5);
  EXPECT_EQ(static_cast<std::int8_t>(Status::kUndefinedZeroDenominator), 6);
  EXPECT_EQ(static_cast<std::int8_t>(Status::kUndefinedTooFewPoints), 7);
  EXPECT_EQ(static_cast<std::int8_t>(Status::kUndefinedNoOrder), 8);
  EXPECT_EQ(static_cast<std::int8_t>(Status::kNotStored), 9);
  EXPECT_EQ(static_cast<std::int8_t>(Status::kDiffersFromExpected), 10);
  EXPECT_EQ(static_cast<std::int8_t>(Status::kUndefinedNotStationary), 11);
  EXPECT_EQ(static_cast<std::int8_t>(Status::kUndefinedSingular), 12);
  EXPECT_EQ(static_cast<std::int8_t>(Status::kUndefinedOtherInertia), 13);
  EXPECT_EQ(static_cast<std::int8_t>(Status::kUndefinedNoPass), 14);
}

TEST(Status, AWellDefinedUndefinedIsConclusiveAndAFailureIsNot) {
  EXPECT_TRUE(is_conclusive(Status::kOk));
  EXPECT_TRUE(is_conclusive(Status::kUndefinedZeroMedian));
  EXPECT_TRUE(is_conclusive(Status::kUndefinedNotPositiveDefinite));
  EXPECT_TRUE(is_conclusive(Status::kUndefinedZeroDenominator));
  EXPECT_TRUE(is_conclusive(Status::kUndefinedTooFewPoints));
  EXPECT_TRUE(is_conclusive(Status::kUndefinedNoOrder));
  EXPECT_TRUE(is_conclusive(Status::kNotStored));
  EXPECT_TRUE(is_conclusive(Status::kUndefinedNotStationary));
  EXPECT_TRUE(is_conclusive(Status::kUndefinedSingular));
  EXPECT_TRUE(is_conclusive(Status::kUndefinedOtherInertia));
  EXPECT_TRUE(is_conclusive(Status::kUndefinedNoPass));
  EXPECT_FALSE(is_conclusive(Status::kNotComputed));
  EXPECT_FALSE(is_conclusive(Status::kNonFinite));
  EXPECT_FALSE(is_conclusive(Status::kFailed));
  EXPECT_FALSE(is_conclusive(Status::kDiffersFromExpected));
}

}  // namespace
}  // namespace hesscope
