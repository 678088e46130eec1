// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/paths/internal/unit_matching.h>

#include "support/loss_oracle.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// Units 0, 1, 2 of two entries each, on one axis with signs.
InterchangeableUnits three_units() {
  InterchangeableUnits units{
      .name = "w", .axes = {InterchangeableUnits::Axis(3, 2)}, .flips = {true}};
  units.axes[0] << 0, 1, 2, 3, 4, 5;
  return units;
}

TEST(UnitMatching, IsTheNearestOfAllSignedPermutations) {
  const std::vector<InterchangeableUnits> families = {three_units()};
  test::Numbers numbers(4);
  for (int repetition = 0; repetition < 20; ++repetition) {
    const VectorXd reference = numbers.vector(6);
    const VectorXd theta = numbers.vector(6);
    double nearest = kInfinity;
    std::vector<Index> sources = {0, 1, 2};
    do {
      for (int signs = 0; signs < 8; ++signs) {
        const std::vector<int> of = {signs & 1 ? -1 : 1, signs & 2 ? -1 : 1, signs & 4 ? -1 : 1};
        nearest =
            std::min(nearest, (reference - families[0].rearranged(theta, sources, of)).norm());
      }
    } while (std::next_permutation(sources.begin(), sources.end()));
    for (const bool is_staged : {false, true}) {
      const detail::UnitMatching found = detail::match_units(families, reference, theta, is_staged);
      EXPECT_NEAR((reference - found.theta).norm(), nearest, 1e-14);
      EXPECT_EQ(detail::rearranged(families, found.moves, theta), found.theta);
    }
  }
}

TEST(UnitMatching, WithoutFamiliesIsThePoint) {
  test::Numbers numbers(4);
  const VectorXd theta = numbers.vector(6);
  EXPECT_EQ(detail::match_units({}, numbers.vector(6), theta, true).theta, theta);
}

}  // namespace
}  // namespace hesscope
