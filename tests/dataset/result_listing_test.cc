// SPDX-License-Identifier: BSD-3-Clause
//
// What a process that reads a result may claim of it.
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/dataset/internal/result_listing.h>

namespace {

using hesscope::Group;
using hesscope::kInfinity;
using hesscope::Variable;
using hesscope::VariableType;
using hesscope::io::decode_result_listing;
using hesscope::io::ResultListing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ResultListing example() {
  Variable variable;
  variable.name = "status";
  variable.type = VariableType::kInt8;
  variable.dimensions = {"checkpoint", ""};
  variable.shape = {3, std::numeric_limits<std::uint64_t>::max()};
  variable.long_name = "a long name";
  variable.units = "1";
  variable.definition = "a = b";
  variable.flag_meanings = {"ok", "not_computed"};
  variable.coordinates = {"step", "place"};
  variable.ancillary_variables = "none";
  Variable other;
  other.name = "of a type that is not read";
  other.type = VariableType::kOther;
  variable.values = std::vector<std::string>{"a", ""};
  ResultListing listing;
  listing.groups = {
      {.name = "",
       .attributes = {{"text", "x"},
                      {"real", -0.0},
                      {"integer", std::int64_t{-7}},
                      {"byte", std::int8_t{-1}},
                      {"reals", std::vector<double>{1, kInfinity}},
                      {"bytes", std::vector<std::int8_t>{0, -128}}},
       .dimensions = {{.name = "checkpoint", .size = 3, .has_coordinate = true}, {.name = "bare"}},
       .variables = {variable}},
      {.name = "group", .attributes = {}, .dimensions = {}, .variables = {other}}};
  listing.obstacles = {"", "cannot be read"};
  return listing;
}

TEST(ResultListing, ComesBackAsItWas) {
  const ResultListing listing = example();
  const auto decoded = decode_result_listing(encode(listing));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(encode(*decoded), encode(listing));
  ASSERT_EQ(decoded->groups.size(), 2);
  const Group& root = decoded->groups[0];
  ASSERT_EQ(root.attributes.size(), 6);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(root.attributes[i].name, listing.groups[0].attributes[i].name);
    EXPECT_EQ(root.attributes[i].value, listing.groups[0].attributes[i].value);
  }
  ASSERT_EQ(root.variables.size(), 1);
  EXPECT_EQ(root.variables[0].type, VariableType::kInt8);
  EXPECT_THAT(root.variables[0].dimensions, ElementsAre("checkpoint", ""));
  EXPECT_EQ(root.variables[0].shape, listing.groups[0].variables[0].shape);
  EXPECT_THAT(root.variables[0].coordinates, ElementsAre("step", "place"));
  EXPECT_EQ(root.variables[0].ancillary_variables, "none");
  EXPECT_EQ(decoded->groups[1].variables[0].type, VariableType::kOther);
  EXPECT_EQ(root.variables[0].values, listing.groups[0].variables[0].values);
  EXPECT_THAT(decoded->obstacles, ElementsAre("", "cannot be read"));
}

TEST(ResultListing, OfNothingIsEmpty) {
  const auto decoded = decode_result_listing(encode(ResultListing()));
  ASSERT_TRUE(decoded);
  EXPECT_THAT(decoded->groups, IsEmpty());
}

TEST(ResultListing, IsRefusedWhereItEndsEarlyOrLate) {
  const std::string bytes = encode(example());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_result_listing(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_FALSE(decode_result_listing(bytes + '\0'));
}

TEST(ResultListing, IsRefusedOrHarmlessWithAnyByteChanged) {
  const std::string bytes = encode(example());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const char change : {'\x01', '\x80', '\xff'}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      const auto decoded = decode_result_listing(damaged);
      if (!decoded) continue;
      std::size_t num_variables = 0;
      for (const Group& group : decoded->groups) num_variables += group.variables.size();
      EXPECT_EQ(decoded->obstacles.size(), num_variables);
      EXPECT_EQ(encode(*decoded).size(), damaged.size());
    }
  }
}

TEST(ResultListing, HasTheTextsOfVariablesOfTextThatCanBeRead) {
  ResultListing listing = example();
  Variable& variable = listing.groups[0].variables[0];
  variable.type = VariableType::kText;
  EXPECT_TRUE(decode_result_listing(encode(listing)));
  variable.values = std::vector<double>{1};
  EXPECT_FALSE(decode_result_listing(encode(listing)));
}

TEST(ResultListing, NeedsAWordOnEachVariable) {
  ResultListing listing = example();
  listing.obstacles.pop_back();
  EXPECT_FALSE(decode_result_listing(encode(listing)));
}

}  // namespace
