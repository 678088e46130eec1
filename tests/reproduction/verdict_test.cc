// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/reproduction/internal/verdict.h>

namespace hesscope::detail {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

SeedStatistics ours(double mean, double deviation = kNaN, double sampling_error = kNaN) {
  return {.count = 6, .mean = mean, .deviation = deviation, .sampling_error = sampling_error};
}

PublishedValue theirs(double mean, std::optional<double> deviation = {}) {
  return {.mean = mean, .deviation = deviation};
}

Agreement agreement(const PublishedValue& published,
                    const SeedStatistics& own,
                    std::optional<double> divide = {}) {
  return verdict(published, own, divide).agreement;
}

TEST(Verdict, IsOfWhatIsThere) {
  EXPECT_EQ(verdict(theirs(1), SeedStatistics(), {}).text, "we have none");
  EXPECT_EQ(agreement(theirs(1), SeedStatistics()), Agreement::kNone);
}

TEST(Verdict, ComparesBySpreads) {
  EXPECT_EQ(agreement(theirs(10, 1), ours(12, 1)), Agreement::kAgrees);
  EXPECT_EQ(agreement(theirs(10, 1), ours(12.1, 1)), Agreement::kDisagrees);
  EXPECT_EQ(agreement(theirs(10, 1), ours(7.9, 1)), Agreement::kDisagrees);
  // The choice of samples is a spread, too.
  EXPECT_EQ(agreement(theirs(10, 1), ours(12.1, 1, 0.2)), Agreement::kAgrees);
}

TEST(Verdict, IsOpenWhereTheContraryWouldAgree) {
  EXPECT_EQ(agreement(theirs(9.57, 13.3), ours(14.9, 26.3)), Agreement::kUndecided);
  EXPECT_EQ(agreement(theirs(10, 2), ours(11, 3)), Agreement::kUndecided);
  EXPECT_EQ(agreement(theirs(10, 2), ours(11, 2.9)), Agreement::kAgrees);
  const Verdict said = verdict(theirs(1.58, 0.41), ours(1.08, 0.23), 1);
  EXPECT_EQ(said.agreement, Agreement::kUndecided);
  EXPECT_THAT(said.text, HasSubstr("to the other side of 1"));
  EXPECT_EQ(agreement(theirs(1.58, 0.2), ours(1.38, 0.2), 1), Agreement::kAgrees);
}

TEST(Verdict, KnowsTwoSides) {
  EXPECT_EQ(agreement(theirs(1.2), ours(0.9)), Agreement::kAgrees);
  EXPECT_EQ(agreement(theirs(1.2), ours(0.9), 1), Agreement::kDisagrees);
  EXPECT_EQ(agreement(theirs(1.58, 0.41), ours(0.81, 0.1), 1), Agreement::kDisagrees);
  EXPECT_EQ(agreement(theirs(1.58, 0.41), ours(0.81, 0.43), 1), Agreement::kUndecided);
}

TEST(Verdict, OfANumberWithoutSpreadIsByItsRatio) {
  EXPECT_EQ(verdict(theirs(2), ours(3, 1), {}).text, "ratio 1.5");
  EXPECT_EQ(agreement(theirs(2), ours(4)), Agreement::kAgrees);
  EXPECT_EQ(agreement(theirs(2), ours(4.1)), Agreement::kDisagrees);
  EXPECT_EQ(agreement(theirs(2), ours(0.9)), Agreement::kDisagrees);
  EXPECT_EQ(agreement(theirs(2), ours(kNaN)), Agreement::kDisagrees);
}

TEST(Verdict, OfARangeIsWhereTheMeanLies) {
  const PublishedValue range{.mean = kNaN, .least = 0.95, .most = 1.25};
  EXPECT_EQ(agreement(range, ours(0.95)), Agreement::kAgrees);
  EXPECT_EQ(agreement(range, ours(1.25, 3)), Agreement::kAgrees);
  EXPECT_EQ(agreement(range, ours(0.539)), Agreement::kDisagrees);
  EXPECT_THAT(verdict(range, ours(0.539), {}).text, HasSubstr("0.95 to 1.25"));
  EXPECT_EQ(agreement(range, ours(1.3, 0.1)), Agreement::kUndecided);
  EXPECT_EQ(agreement(range, ours(1.4, 0.1)), Agreement::kDisagrees);
  EXPECT_EQ(agreement(range, ours(kNaN)), Agreement::kDisagrees);
  const PublishedValue least{.mean = kNaN, .least = 2};
  EXPECT_EQ(agreement(least, ours(1e9)), Agreement::kAgrees);
  EXPECT_THAT(verdict(least, ours(1), {}).text, StartsWith("disagrees"));
}

TEST(Verdict, NeverAgreesWithNaN) {
  EXPECT_NE(agreement(theirs(10, 1), ours(kNaN, 1)), Agreement::kAgrees);
  EXPECT_NE(agreement(theirs(10, 1), ours(kNaN, 1), 1), Agreement::kAgrees);
  EXPECT_EQ(agreement(theirs(10, 1), ours(11, 1, kNaN)), Agreement::kAgrees);
}

}  // namespace
}  // namespace hesscope::detail
