// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/reproduction/internal/seed_statistics.h>

namespace hesscope::detail {
namespace {

TEST(SeedStatistics, AreMeanAndUnbiasedDeviation) {
  const SeedStatistics found = seed_statistics(std::vector<double>{2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(found.count, 8);
  EXPECT_EQ(found.mean, 5);
  EXPECT_EQ(found.deviation, std::sqrt(32.0 / 7));
  EXPECT_EQ(found.minimum, 2);
  EXPECT_EQ(found.maximum, 9);
}

TEST(SeedStatistics, HaveThoseOfTheLogarithmsWhereAllNumbersAreAboveZero) {
  const SeedStatistics found = seed_statistics(std::vector<double>{1e-3, kNaN, 10});
  EXPECT_NEAR(std::exp(found.log_mean), 0.1, 1e-16);
  EXPECT_NEAR(found.log_deviation, std::log(1e4) / std::sqrt(2.0), 1e-14);
  EXPECT_TRUE(std::isnan(seed_statistics(std::vector<double>{0, 1}).log_mean));
  EXPECT_TRUE(std::isnan(seed_statistics(std::vector<double>{-1, 1, 2}).log_deviation));
  const SeedStatistics one = seed_statistics(std::vector<double>{2});
  EXPECT_EQ(one.log_mean, std::log(2.0));
  EXPECT_TRUE(std::isnan(one.log_deviation));
}

TEST(SeedStatistics, DoNotLoseSmallSpreadsOfLargeNumbers) {
  const SeedStatistics found = seed_statistics(std::vector<double>{1e9 - 1, 1e9, 1e9 + 1});
  EXPECT_EQ(found.mean, 1e9);
  EXPECT_EQ(found.deviation, 1);
}

TEST(SeedStatistics, AreThoseOfNumbersOfAnySize) {
  for (const double scale : {1e-300, 1e-200, 1e200, 1e300}) {
    const SeedStatistics found = seed_statistics(std::vector<double>{
        2 * scale, 4 * scale, 4 * scale, 4 * scale, 5 * scale, 5 * scale, 7 * scale, 9 * scale});
    EXPECT_NEAR(found.mean / scale, 5, 1e-14);
    EXPECT_NEAR(found.deviation / scale, std::sqrt(32.0 / 7), 1e-14);
  }
  EXPECT_EQ(seed_statistics(std::vector<double>{1.7e308, 1.7e308}).mean, 1.7e308);
}

TEST(SeedStatistics, LeaveOutWhatIsNotThere) {
  const SeedStatistics found =
      seed_statistics(std::vector<double>{kNaN, -3, kInfinity, -1, -kInfinity});
  EXPECT_EQ(found.count, 2);
  EXPECT_EQ(found.mean, -2);
  EXPECT_EQ(found.minimum, -3);
  EXPECT_EQ(found.maximum, -1);
}

TEST(SeedStatistics, AreMissingWhereTooFewNumbersAreThere) {
  const SeedStatistics one = seed_statistics(std::vector<double>{7, kNaN});
  EXPECT_EQ(one.count, 1);
  EXPECT_EQ(one.mean, 7);
  EXPECT_TRUE(std::isnan(one.deviation));
  EXPECT_EQ(mean_text(one), "7");
  const SeedStatistics none = seed_statistics(std::vector<double>{kNaN});
  EXPECT_EQ(none.count, 0);
  EXPECT_TRUE(std::isnan(none.mean) && std::isnan(none.minimum) && std::isnan(none.maximum));
  EXPECT_EQ(mean_text(none), "-");
}

TEST(SeedStatistics, AreWrittenWithThreeDigits) {
  EXPECT_EQ(mean_text(seed_statistics(std::vector<double>{1, 2})), "1.5 (0.707)");
  EXPECT_EQ(digits_text(1234567), "1.23e+06");
  EXPECT_EQ(digits_text(kNaN), "-");
}

TEST(SeedStatistics, HaveTheQuartilesOfNumPy) {
  const SeedStatistics found = seed_statistics(std::vector<double>{7, -1, kNaN, 2, 4});
  EXPECT_EQ(found.median, 3);
  EXPECT_EQ(found.lower_quartile, 1.25);  // numpy.quantile([-1, 2, 4, 7], 0.25)
  EXPECT_EQ(found.upper_quartile, 4.75);
  const SeedStatistics one = seed_statistics(std::vector<double>{5});
  EXPECT_EQ(one.lower_quartile, 5);
  EXPECT_EQ(one.upper_quartile, 5);
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
}

// As a column of a table has it.
std::vector<std::string> texts_of(const std::vector<std::vector<double>>& by_row) {
  std::vector<SeedStatistics> column;
  for (const std::vector<double>& values : by_row) column.push_back(seed_statistics(values));
  return column_texts(column);
}

TEST(ColumnTexts, HaveOnePrecision) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(texts_of({{0.5, 0.5}, {0.0013, 0.0015}}),
            (Texts{"0.5000 (0.0000)", "0.0014 (0.0001)"}));
  EXPECT_EQ(texts_of({{12.345}, {1}, {kNaN}, {0}}), (Texts{"12.3", "1.0", "-", "0.0"}));
  EXPECT_EQ(texts_of({{1234.5}, {-17}}), (Texts{"1234", "-17"}));
  EXPECT_EQ(texts_of({{1}, {2e-9}}), (Texts{"1.00e+00", "2.00e-09"}));
  EXPECT_EQ(texts_of({{3, 1e30}}), (Texts{"5.00e+29 (7.07e+29)"}));
  EXPECT_EQ(texts_of({{kNaN}}), Texts{"-"});
}

}  // namespace
}  // namespace hesscope::detail
