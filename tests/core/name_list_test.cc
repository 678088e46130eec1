// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/name_list.h>

namespace hesscope {
namespace {

TEST(NameList, NamesTheFirstAndCountsTheOthers) {
  const std::vector<std::string> names = {"a", "b", "c", "d"};
  EXPECT_EQ(first_names(names, 2), "a, b and 2 more");
  EXPECT_EQ(first_names(names, 4), "a, b, c, d");
  EXPECT_EQ(first_names(names, 9), "a, b, c, d");
  EXPECT_EQ(first_quoted(names, 1), "'a' and 3 more");
  EXPECT_EQ(first_quoted(names, 3), "'a', 'b', 'c' and 1 more");
}

TEST(NameList, SaysNothingOfNoOthers) {
  EXPECT_EQ(and_more(0), "");
  EXPECT_EQ(and_more(7), " and 7 more");
}

TEST(NameList, OfNoNamesIsEmpty) {
  EXPECT_EQ(first_names({}, 3), "");
  EXPECT_EQ(first_quoted({}, 3), "");
}

}  // namespace
}  // namespace hesscope
