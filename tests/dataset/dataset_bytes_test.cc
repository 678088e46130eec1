// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/dataset/internal/dataset_bytes.h>

namespace hesscope {
namespace {

Group sample() {
  Group group{.name = "answer",
              .attributes = {{"text", "x"}, {"reals", std::vector<double>{1, -0.0}}},
              .dimensions = {{.name = "rank", .size = 2, .labels = {"a", ""}},
                             {.name = "step", .size = 1, .numbers = {-7}, .definition = "steps"}},
              .variables = {{.name = "lambda",
                             .definition = "A v = lambda v",
                             .references = {"a", "b"},
                             .headline = 2},
                            {.name = "tiny"},
                            {.name = "matrix", .dimensions = {"rank", "step"}},
                            {.name = "missing"},
                            {.name = "count", .type = VariableType::kInt64},
                            {.name = "flag", .type = VariableType::kInt8},
                            {.name = "text", .type = VariableType::kText},
                            {.name = "nothing was said"}}};
  group["lambda"].set(-0.0);
  group["lambda"].is_proved = false;
  group["tiny"].set(std::numeric_limits<double>::denorm_min());
  group["matrix"].set_rows(Eigen::MatrixXd::Random(3, 2));
  group["missing"].set_missing(Status::kFailed);
  group["count"].set_count(-7);
  group["flag"].set_flag(3);
  group["text"].values = std::vector<std::string>{"", "b"};
  group["text"].statuses = {Status::kOk, Status::kNotStored};
  return group;
}

TEST(DatasetBytes, ComeBackToTheLastBit) {
  const Group group = sample();
  const auto read = io::group_from_bytes(io::to_bytes(group));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(io::to_bytes(*read), io::to_bytes(group));
  ASSERT_EQ(read->variables.size(), group.variables.size());
  for (const Variable& variable : group.variables) {
    const Variable& other = (*read)[variable.name];
    EXPECT_EQ(other.values, variable.values) << variable.name;
    EXPECT_EQ(other.statuses, variable.statuses) << variable.name;
    EXPECT_EQ(other.is_proved, variable.is_proved) << variable.name;
    EXPECT_EQ(other.dimensions, variable.dimensions) << variable.name;
    EXPECT_EQ(other.definition, variable.definition) << variable.name;
    EXPECT_EQ(other.references, variable.references) << variable.name;
    EXPECT_EQ(other.headline, variable.headline) << variable.name;
  }
  EXPECT_TRUE(std::signbit(read->variables[0].number()));
  EXPECT_EQ(read->dimensions[0].labels, group.dimensions[0].labels);
  EXPECT_EQ(read->dimensions[1].numbers, group.dimensions[1].numbers);
  EXPECT_EQ(read->attributes[1].value, group.attributes[1].value);
}

TEST(DatasetBytes, OfAnEmptyGroup) {
  const auto read = io::group_from_bytes(io::to_bytes(Group()));
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->variables.empty());
}

TEST(DatasetBytes, AreNoGroupWhenCutOrExtended) {
  const std::string bytes = io::to_bytes(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(io::group_from_bytes(bytes.substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(io::group_from_bytes(bytes + '\0').has_value());
  EXPECT_FALSE(io::group_from_bytes(std::string(64, '\xff')).has_value());
}

// They come from a process that is not trusted: what is taken is a group that can be used.
TEST(DatasetBytes, WithAnyByteChangedAreAGroupOrNone) {
  const std::string bytes = io::to_bytes(sample());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      const auto read = io::group_from_bytes(damaged);
      if (!read) continue;
      for (const Variable& variable : read->variables) {
        EXPECT_LE(variable.type, VariableType::kOther);
        for (const Status status : variable.statuses) EXPECT_FALSE(to_string(status).empty());
      }
    }
  }
}

}  // namespace
}  // namespace hesscope
