// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/json.h>

namespace hesscope {
namespace {

TEST(Json, KeepsTheOrderOfMembers) {
  Json document = {{"z", 1}, {"a", std::vector{1.5, 2.0}}};
  document["m"]["inner"] = true;
  EXPECT_EQ(document.compact(), R"({"z":1,"a":[1.5,2.0],"m":{"inner":true}})");
  EXPECT_EQ(document["a"].text(), "[\n  1.5,\n  2.0\n]");
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
