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

// Six seeds each: ten degrees of freedom, of which 2.2281 sqrt(1 / 6 + 1 / 6) = 1.2864.
TEST(Verdict, ComparesByStandardErrors) {
  EXPECT_EQ(agreement(theirs(10, 1), ours(11.28, 1)), Agreement::kAgrees);
  EXPECT_EQ(agreement(theirs(10, 1), ours(11.29, 1)), Agreement::kDisagrees);
  EXPECT_EQ(agreement(theirs(10, 1), ours(8.71, 1)), Agreement::kDisagrees);
  // The choice of samples is one of them: 2.1684 sqrt(1 / 3 + 1 / 25) = 1.3249.
  EXPECT_EQ(agreement(theirs(10, 1), ours(11.32, 1, 0.2)), Agreement::kAgrees);
  EXPECT_EQ(agreement(theirs(10, 1), ours(11.33, 1, 0.2)), Agreement::kDisagrees);
  // Theirs of one seed, whose deviation is taken as known: 1.9697 sqrt(1 / 6 + 1) = 2.1275.
  PublishedValue of_one = theirs(10, 1);
  of_one.num_seeds = 1;
  EXPECT_EQ(agreement(of_one, ours(12.12, 1)), Agreement::kAgrees);
  EXPECT_EQ(agreement(of_one, ours(12.13, 1)), Agreement::kDisagrees);
}

// A standard error of two seeds is hardly known: two degrees of freedom, of which 4.3027.
TEST(Verdict, OfFewSeedsLeavesRoomForChance) {
  PublishedValue published = theirs(10, 1);
  published.num_seeds = 2;
  const auto of_two = [](double mean) {
    return SeedStatistics{.count = 2, .mean = mean, .deviation = 1};
  };
  EXPECT_EQ(agreement(published, of_two(14.2)), Agreement::kAgrees);
  EXPECT_EQ(agreement(published, of_two(14.4)), Agreement::kDisagrees);
}

TEST(Verdict, IsOpenWhereTheContraryWouldAgree) {
  EXPECT_EQ(agreement(theirs(9.57, 13.3), ours(14.9, 26.3)), Agreement::kUndecided);
  // t sqrt((16 + d^2) / 6) passes 5 at d = 3.77.
  EXPECT_EQ(agreement(theirs(10, 4), ours(11, 3.8)), Agreement::kUndecided);
  EXPECT_EQ(agreement(theirs(10, 4), ours(11, 3.7)), Agreement::kAgrees);
  const Verdict said = verdict(theirs(1.76, 0.40), ours(2.61, 1.37), 1);
  EXPECT_EQ(said.agreement, Agreement::kUndecided);
  EXPECT_THAT(said.text, HasSubstr("undecided: 1 is no further off"));
  EXPECT_EQ(agreement(theirs(1.58, 0.2), ours(1.38, 0.2), 1), Agreement::kAgrees);
  EXPECT_EQ(agreement(theirs(1.58, 0.41), ours(1.08, 0.23), 1), Agreement::kDisagrees);
}

TEST(Verdict, KnowsTwoSides) {
  EXPECT_EQ(agreement(theirs(1.2), ours(0.9)), Agreement::kAgrees);
  EXPECT_EQ(agreement(theirs(1.2), ours(0.9), 1), Agreement::kDisagrees);
  EXPECT_EQ(agreement(theirs(1.58, 0.41), ours(0.81, 0.43), 1), Agreement::kDisagrees);
  EXPECT_EQ(agreement(theirs(1.58, 0.41), ours(0.81, 0.43, 0.35), 1), Agreement::kUndecided);
}

TEST(Verdict, OfANumberWithoutSpreadIsByItsRatio) {
  EXPECT_EQ(verdict(theirs(2), ours(3, 1), {}).text, "ratio 1.5");
  EXPECT_EQ(agreement(theirs(2), ours(4)), Agreement::kAgrees);
  EXPECT_EQ(agreement(theirs(2), ours(4.1)), Agreement::kDisagrees);
  EXPECT_EQ(agreement(theirs(2), ours(0.9)), Agreement::kDisagrees);
  EXPECT_EQ(agreement(theirs(2), ours(kNaN)), Agreement::kDisagrees);
}

TEST(Verdict, OfEqualNumbersIsThatTheyAgree) {
  EXPECT_EQ(agreement(theirs(0), ours(0)), Agreement::kAgrees);
  EXPECT_EQ(verdict(theirs(2), ours(2), {}).text, "equal");
  EXPECT_EQ(agreement(theirs(0, 0), ours(0, 0)), Agreement::kAgrees);
  EXPECT_EQ(agreement(theirs(0), ours(1e-300)), Agreement::kDisagrees);
  // What is lost in the spread, equal or not, says nothing.
  EXPECT_EQ(agreement(theirs(0, 1), ours(0, 1)), Agreement::kUndecided);
}

// Whose squares doubles do not hold.
TEST(Verdict, IsTheSameAtEveryScale) {
  for (const double unit : {1e-300, 1e-170, 1.0, 1e170, 1e300}) {
    EXPECT_EQ(agreement(theirs(10 * unit, unit), ours(11.28 * unit, unit)), Agreement::kAgrees);
    EXPECT_EQ(agreement(theirs(10 * unit, unit), ours(11.29 * unit, unit)), Agreement::kDisagrees);
    const PublishedValue range{.mean = kNaN, .least = 0.95 * unit, .most = 1.25 * unit};
    EXPECT_EQ(agreement(range, ours(1.35 * unit, 0.1 * unit)), Agreement::kUndecided);
    EXPECT_EQ(agreement(range, ours(1.36 * unit, 0.1 * unit)), Agreement::kDisagrees);
  }
}

TEST(Verdict, OfARangeIsWhereTheMeanLies) {
  const PublishedValue range{.mean = kNaN, .least = 0.95, .most = 1.25};
  EXPECT_EQ(agreement(range, ours(0.95)), Agreement::kAgrees);
  EXPECT_EQ(agreement(range, ours(1.25, 3)), Agreement::kAgrees);
  EXPECT_EQ(agreement(range, ours(0.539)), Agreement::kDisagrees);
  EXPECT_THAT(verdict(range, ours(0.539), {}).text, HasSubstr("0.95 to 1.25"));
  EXPECT_EQ(agreement(range, ours(1.35, 0.1)),
            Agreement::kUndecided);  // 2.5706 * 0.1 / sqrt(6) = 0.1049
  EXPECT_EQ(agreement(range, ours(1.36, 0.1)), Agreement::kDisagrees);
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
