// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <variant>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analyzers/record.h>
#include <hesscope/core/constants.h>

namespace hesscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Record::Real& real(const Record& record, const std::string& name) {
  return std::get<Record::Real>(record.entries().at(name));
}

TEST(Record, AFiniteNumberIsThere) {
  Record record;
  record.set("x", 2.5);
  EXPECT_EQ(real(record, "x").status, Status::kOk);
  EXPECT_THAT(real(record, "x").values, ElementsAre(2.5));
}

TEST(Record, ANumberThatIsNotFiniteIsNanWithItsStatus) {
  for (const double value : {kNaN, kInfinity, -kInfinity}) {
    Record record;
    record.set("x", value);
    EXPECT_EQ(real(record, "x").status, Status::kNonFinite);
    ASSERT_EQ(real(record, "x").values.size(), 1U);
    EXPECT_TRUE(std::isnan(real(record, "x").values[0]));
  }
}

TEST(Record, ANumberWithAReasonAgainstItIsNan) {
  Record record;
  record.set("x", 1e18, Status::kUndefinedZeroMedian);
  EXPECT_EQ(real(record, "x").status, Status::kUndefinedZeroMedian);
  ASSERT_EQ(real(record, "x").values.size(), 1U);
  EXPECT_TRUE(std::isnan(real(record, "x").values[0]));
}

TEST(Record, OneNonFiniteElementMarksTheArrayAndKeepsTheOthers) {
  Record record;
  record.set("good", Eigen::Vector2d(1, 2));
  record.set("bad", Eigen::Vector3d(1, kNaN, 3));
  EXPECT_EQ(real(record, "good").status, Status::kOk);
  EXPECT_EQ(real(record, "bad").status, Status::kNonFinite);
  EXPECT_EQ(real(record, "bad").values[0], 1);
  EXPECT_TRUE(std::isnan(real(record, "bad").values[1]));
  EXPECT_EQ(real(record, "bad").values[2], 3);
}

TEST(Record, MissingQuantitiesHaveAStatusAndNoValues) {
  Record record;
  record.set_missing("x", Status::kFailed);
  EXPECT_EQ(real(record, "x").status, Status::kFailed);
  EXPECT_THAT(real(record, "x").values, IsEmpty());
}

TEST(Record, SymmetricMatricesKeepEveryEntry) {
  Record record;
  record.set_symmetric("h", Eigen::Matrix2d{{1, 2}, {2, 3}});
  EXPECT_THAT(real(record, "h").values, ElementsAre(1, 2, 2, 3));
}

TEST(Record, CountsAndFlagsKeepTheirTypes) {
  Record record;
  record.set_count("n", 25);
  record.set_flag("proof", 2);
  EXPECT_EQ(std::get<std::int64_t>(record.entries().at("n")), 25);
  EXPECT_EQ(std::get<std::int8_t>(record.entries().at("proof")), 2);
}

TEST(Record, TheLaterOfTwoValuesCounts) {
  Record record;
  record.set("x", 1);
  record.set_missing("x", Status::kNonFinite);
  EXPECT_EQ(real(record, "x").status, Status::kNonFinite);
  EXPECT_EQ(record.entries().size(), 1U);
}

}  // namespace
}  // namespace hesscope
