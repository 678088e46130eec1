// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/json.h>

#include "support/refusal.h"

namespace hesscope {
namespace {

TEST(Json, KeepsTheOrderOfMembers) {
  Json document = {{"z", 1}, {"a", std::vector{1.5, 2.0}}};
  document["m"]["inner"] = true;
  EXPECT_EQ(document.compact(), R"({"z":1,"a":[1.5,2.0],"m":{"inner":true}})");
  EXPECT_EQ(document["a"].text(), "[\n  1.5,\n  2.0\n]");
}

TEST(Json, MembersStayWhereTheyAreWhenOthersAreAdded) {
  Json document;
  Json& first = document["first"];
  for (int i = 0; i < 100; ++i) document["m" + std::to_string(i)] = i;
  first = "set last";
  EXPECT_EQ(document["first"].compact(), "\"set last\"");
}

TEST(Json, OnlyObjectsHaveMembersAndOnlyListsHaveElements) {
  Json nothing;
  nothing.push_back(1);
  EXPECT_EQ(nothing.compact(), "[1]");
  test::expect_refusal([&] { nothing["a"] = 2; }, "expected an object, got [1]");
  Json object = {{"a", 1}};
  test::expect_refusal([&] { object.push_back(2); }, R"(expected a list, got {"a":1})");
}

TEST(Json, NumbersAreExactAndThoseThatJsonLacksAreNull) {
  EXPECT_EQ(Json(0.1).compact(), "0.1");
  EXPECT_EQ(Json(std::numeric_limits<std::uint64_t>::max()).compact(), "18446744073709551615");
  EXPECT_EQ(Json(std::nan("")).compact(), "null");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).compact(), "null");
  EXPECT_EQ(Json(std::optional<int>()).compact(), "null");
}

TEST(Json, TextThatIsNoUtf8IsReplaced) {
  EXPECT_EQ(Json("a\"\n\xff").compact(), "\"a\\\"\\n\ufffd\"");
}

}  // namespace
}  // namespace hesscope
