// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/spectra/internal/generator_sets.h>

#include "support/refusal.h"

namespace hesscope {
namespace {

using Members = std::vector<std::pair<std::size_t, Eigen::Index>>;
using Parameters = std::vector<Eigen::Index>;

Invariance family(std::vector<AffineGenerator> generators) {
  const auto count = static_cast<Eigen::Index>(generators.size());
  return {"family", count, [generators](Eigen::Index k) {
            return generators[static_cast<std::size_t>(k)];
          }};
}

Members members_of(const detail::GeneratorSet& set) {
  Members members;
  for (const auto& member : set.members) members.emplace_back(member.family, member.index);
  return members;
}

TEST(GeneratorSets, AreConnectedByRowsColumnsAndConstants) {
  const std::vector<Invariance> invariances = {
      family({{{{7, 3, 1.0}}, {}},             // 3 - 7
              {{}, {{5, 1.0}}},                // 5
              {{}, {}},                        // nothing
              {{{1, 1, 2.0}}, {}}}),           // 1
      family({{{}, {{8, 1.0}, {5, -1.0}}},     // 5 - 8
              {{{3, 2, 1.0}}, {{3, 1.0}}}})};  // 2 - 3, and so 7
  const auto sets = detail::generator_sets(invariances, 10);
  ASSERT_EQ(sets.size(), 3U);
  EXPECT_EQ(sets[0].parameters, (Parameters{2, 3, 7}));
  EXPECT_EQ(members_of(sets[0]), (Members{{0, 0}, {1, 1}}));
  EXPECT_EQ(sets[1].parameters, (Parameters{5, 8}));
  EXPECT_EQ(members_of(sets[1]), (Members{{0, 1}, {1, 0}}));
  EXPECT_EQ(sets[2].parameters, (Parameters{1}));
  EXPECT_EQ(members_of(sets[2]), (Members{{0, 3}}));
}

TEST(GeneratorSets, OfNothingAreNone) {
  EXPECT_TRUE(detail::generator_sets({}, 3).empty());
  const std::vector<Invariance> empty = {family({})};
  EXPECT_TRUE(detail::generator_sets(empty, 3).empty());
}

TEST(GeneratorSets, RefuseEntriesOutside) {
  const std::vector<Invariance> outside = {family({{{}, {{2, 1.0}}}, {{{0, 3, 1.0}}, {}}})};
  test::expect_refusal([&] { detail::generator_sets(outside, 3); },
                       "generator 1 of 'family' has an entry outside of the 3 parameters");
}

}  // namespace
}  // namespace hesscope
