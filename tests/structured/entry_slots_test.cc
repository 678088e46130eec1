// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/structured/internal/graph/entry_slots.h>

namespace hesscope::detail {
namespace {

TEST(EntrySlots, TakesTheFirstHoleThatIsLargeEnough) {
  EntrySlots slots;
  EXPECT_EQ(slots.take(4), 0);
  EXPECT_EQ(slots.take(2), 4);
  EXPECT_EQ(slots.take(3), 6);
  slots.give_back(0, 4);
  slots.give_back(6, 3);
  EXPECT_EQ(slots.take(5), 6);  // the last hole, made longer
  EXPECT_EQ(slots.take(1), 0);
  EXPECT_EQ(slots.take(3), 1);
  EXPECT_EQ(slots.size(), 11);
}

TEST(EntrySlots, JoinsHolesThatMeet) {
  EntrySlots slots;
  for (int i = 0; i < 4; ++i) slots.take(2);
  for (const int begin : {0, 4, 2}) slots.give_back(begin, 2);
  EXPECT_EQ(slots.take(6), 0);
  EXPECT_EQ(slots.size(), 8);
}

TEST(EntrySlots, NeverGivesAPlaceTwice) {
  EntrySlots slots;
  std::vector<char> is_taken;
  std::vector<std::pair<int, int>> taken;
  std::uint32_t state = 1;
  const auto number = [&](std::uint32_t below) {
    state = state * 1664525U + 1013904223U;
    return static_cast<int>((state >> 16U) % below);
  };
  for (int step = 0; step < 5'000; ++step) {
    if (taken.size() < 40 && number(3) > 0) {
      const int size = 1 + number(20);
      const int begin = slots.take(size);
      ASSERT_GE(begin, 0);
      ASSERT_LE(begin + size, slots.size());
      is_taken.resize(static_cast<std::size_t>(slots.size()), 0);
      for (int e = begin; e < begin + size; ++e) {
        ASSERT_EQ(is_taken[static_cast<std::size_t>(e)], 0) << "entry " << e << ", step " << step;
        is_taken[static_cast<std::size_t>(e)] = 1;
      }
      taken.emplace_back(begin, size);
    } else if (!taken.empty()) {
      const auto which = taken.begin() + number(static_cast<std::uint32_t>(taken.size()));
      slots.give_back(which->first, which->second);
      for (int e = which->first; e < which->first + which->second; ++e) {
        is_taken[static_cast<std::size_t>(e)] = 0;
      }
      taken.erase(which);
    }
  }
  EXPECT_LT(slots.size(), 2 * 40 * 20);
}

}  // namespace
}  // namespace hesscope::detail
