// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/dataset/dataset.h>

#include "support/refusal.h"

namespace hesscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Variable variable(VariableType type = VariableType::kDouble) { return {.name = "x", .type = type}; }

TEST(Variable, SaysNothingUntilItIsSet) {
  const Variable x = variable();
  EXPECT_FALSE(x.is_said());
  EXPECT_EQ(x.status(), Status::kNotComputed);
  EXPECT_TRUE(std::isnan(x.number()));
}

TEST(Variable, AFiniteNumberIsThere) {
  Variable x = variable();
  x.set(2.5);
  EXPECT_EQ(x.status(), Status::kOk);
  EXPECT_THAT(x.reals(), ElementsAre(2.5));
  EXPECT_EQ(x.number(), 2.5);
}

TEST(Variable, ANumberThatIsNotFiniteIsNanWithItsStatus) {
  for (const double value : {kNaN, kInfinity, -kInfinity}) {
    Variable x = variable();
    x.set(value);
    EXPECT_EQ(x.status(), Status::kNonFinite);
    ASSERT_EQ(x.reals().size(), 1U);
    EXPECT_TRUE(std::isnan(x.reals()[0]));
  }
}

TEST(Variable, ANumberWithAReasonAgainstItIsNan) {
  Variable x = variable();
  x.set(1e18, Status::kUndefinedZeroMedian);
  EXPECT_EQ(x.status(), Status::kUndefinedZeroMedian);
  ASSERT_EQ(x.reals().size(), 1U);
  EXPECT_TRUE(std::isnan(x.reals()[0]));
}

TEST(Variable, OneNonFiniteElementMarksTheArrayAndKeepsTheOthers) {
  Variable good = variable();
  Variable bad = variable();
  good.set(Eigen::Vector2d(1, 2));
  bad.set(Eigen::Vector3d(1, kNaN, 3));
  EXPECT_EQ(good.status(), Status::kOk);
  EXPECT_EQ(bad.status(), Status::kNonFinite);
  EXPECT_EQ(bad.reals()[0], 1);
  EXPECT_TRUE(std::isnan(bad.reals()[1]));
  EXPECT_EQ(bad.reals()[2], 3);
}

TEST(Variable, TheWorstStatusIsThatOfTheFirstFailure) {
  Variable x = variable();
  EXPECT_EQ(x.worst_status(), Status::kNotComputed);
  const auto worst_of = [&x](const std::vector<Status>& statuses) {
    x.set_numbers(std::vector<double>(statuses.size(), kNaN), statuses);
    return x.worst_status();
  };
  EXPECT_EQ(worst_of({Status::kOk, Status::kNotComputed}), Status::kOk);
  EXPECT_EQ(worst_of({Status::kNotComputed, Status::kOk}), Status::kNotComputed);
  EXPECT_EQ(worst_of({Status::kUndefinedSingular, Status::kOk}), Status::kUndefinedSingular);
  EXPECT_EQ(worst_of({Status::kNotComputed, Status::kNonFinite, Status::kFailed}),
            Status::kNonFinite);
}

TEST(Variable, WhatIsMissingHasAStatusAndNoValues) {
  Variable x = variable();
  x.set(1);
  x.set_missing(Status::kFailed);
  EXPECT_TRUE(x.is_said());
  EXPECT_EQ(x.status(), Status::kFailed);
  EXPECT_THAT(x.reals(), IsEmpty());
}

TEST(Variable, RowsOfAMatrixAreSlowest) {
  Variable x = variable();
  x.set_rows(Eigen::Matrix<double, 2, 3>{{1, 2, 3}, {4, 5, 6}});
  EXPECT_THAT(x.reals(), ElementsAre(1, 2, 3, 4, 5, 6));
  x.set_symmetric(Eigen::Matrix2d{{1, 2}, {2, 3}});
  EXPECT_THAT(x.reals(), ElementsAre(1, 2, 2, 3));
}

TEST(Variable, CountsAndFlagsKeepTheirTypes) {
  Variable n = variable(VariableType::kInt64);
  Variable flag = variable(VariableType::kInt8);
  n.set_count(25);
  flag.set_flag(2);
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(n.values), std::vector<std::int64_t>{25});
  EXPECT_EQ(std::get<std::vector<std::int8_t>>(flag.values), std::vector<std::int8_t>{2});
  EXPECT_EQ(n.number(), 25);
  EXPECT_EQ(flag.number(), 2);
}

TEST(Variable, CountsThatAreMissingAreMarked) {
  Variable n = variable(VariableType::kInt64);
  n.set_numbers({3, kNaN}, {Status::kOk, Status::kFailed});
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(n.values),
            (std::vector<std::int64_t>{3, kMissingCount}));
  const std::vector<double> numbers = n.numbers();
  ASSERT_EQ(numbers.size(), 2U);
  EXPECT_EQ(numbers[0], 3);
  EXPECT_TRUE(std::isnan(numbers[1]));
}

TEST(Variable, GivesItsNumbersWhateverTheirType) {
  Variable x = variable();
  x.values = std::vector<double>{1, 2.5};
  EXPECT_THAT(x.numbers(), ElementsAre(1, 2.5));
  x.values = std::vector<std::int8_t>{-1, 2};
  EXPECT_THAT(x.numbers(), ElementsAre(-1, 2));
  x.values = std::vector<std::string>{"a"};
  EXPECT_THAT(x.numbers(), IsEmpty());
}

TEST(Variable, GivesRowsAlongItsFirstDimension) {
  Variable x = variable();
  x.values = std::vector<double>{1, 2, 3, 4, 5, 6};
  test::expect_refusal<PreconditionError>([&] { x.row(0); }, "no row 0");
  x.shape = {3, 1, 2};
  EXPECT_THAT(x.row(0), ElementsAre(1, 2));
  EXPECT_THAT(x.row(2), ElementsAre(5, 6));
  test::expect_refusal<PreconditionError>([&] { x.row(3); }, "no row 3");
}

TEST(Dimension, HasACoordinateWhereSomethingLiesAlongIt) {
  EXPECT_FALSE(coordinate_of({.name = "bare", .size = 2}));
  const auto names = coordinate_of({.name = "block", .size = 2, .labels = {"a", "b"}});
  ASSERT_TRUE(names);
  EXPECT_EQ(names->type, VariableType::kText);
  EXPECT_THAT(names->dimensions, ElementsAre("block"));
  EXPECT_EQ(names->long_name, "names along the dimension block");
  EXPECT_EQ(names->values, Values(std::vector<std::string>{"a", "b"}));
  const auto numbers = coordinate_of(
      {.name = "seed", .size = 1, .numbers = {7}, .long_name = "seed", .definition = "as asked"});
  ASSERT_TRUE(numbers);
  EXPECT_EQ(numbers->type, VariableType::kInt64);
  EXPECT_EQ(numbers->long_name, "seed");
  EXPECT_EQ(numbers->definition, "as asked");
  EXPECT_EQ(numbers->values, Values(std::vector<std::int64_t>{7}));
}

TEST(Group, RefusesNamesThatAreTakenOrNotThere) {
  Group group{.name = "g"};
  const VariableId x = group.add(variable());
  test::expect_refusal<PreconditionError>([&] { group.add(variable()); }, "'x' already");
  group[x].set(1);
  EXPECT_EQ(group["x"].number(), 1);
  EXPECT_EQ(group.find("y"), nullptr);
  test::expect_refusal<PreconditionError>([&] { group["xx"].set(1); }, "did you mean 'x'");
}

TEST(Group, WhatNothingWasSaidOfIsMissingButForFlags) {
  Group group;
  group.add({.name = "a"});
  group.add({.name = "n", .type = VariableType::kInt64});
  group.add({.name = "flag", .type = VariableType::kInt8});
  group["a"].set(1);
  group.set_rest_missing(Status::kFailed);
  EXPECT_EQ(group["a"].status(), Status::kOk);
  EXPECT_EQ(group["n"].status(), Status::kFailed);
  EXPECT_FALSE(group["flag"].is_said());
}

TEST(Group, TakesValuesAndKeepsMeanings) {
  Group group{.variables = {{.name = "a", .long_name = "ours"}, {.name = "b"}}};
  Group other{.variables = {{.name = "a", .long_name = "theirs"}}};
  other["a"].set(2);
  other["a"].is_proved = false;
  group.take(other);
  EXPECT_EQ(group["a"].number(), 2);
  EXPECT_FALSE(group["a"].is_proved);
  EXPECT_EQ(group["a"].long_name, "ours");
  EXPECT_FALSE(group["b"].is_said());
}

TEST(Group, AppendsPartsInTheirOrder) {
  Group whole{.variables = {{.name = "a"}}};
  for (const double value : {1.0, 2.0}) {
    Group part{.variables = {{.name = "a"}}};
    part["a"].set_numbers({value, -value}, {Status::kOk, Status::kFailed});
    whole.append(part);
  }
  EXPECT_THAT(whole["a"].reals(), ElementsAre(1, -1, 2, -2));
  EXPECT_THAT(whole["a"].statuses,
              ElementsAre(Status::kOk, Status::kFailed, Status::kOk, Status::kFailed));
}

}  // namespace
}  // namespace hesscope
