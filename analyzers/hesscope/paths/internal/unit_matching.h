// SPDX-License-Identifier: BSD-3-Clause
//
// The discrete half of an alignment: which unit goes where, and with which sign.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <Eigen/Core>

#include <hesscope/objective/unit_search.h>

namespace hesscope::detail {

/// What comes into the place of each unit of a family.
struct UnitPlaces {
  std::vector<Eigen::Index> sources;
  std::vector<int> signs;
};

/// A rearrangement of one family. Those of families that hold parameters of each other do not
/// commute.
struct UnitMove {
  std::size_t family;
  UnitPlaces places;
};

struct UnitMatching {
  Eigen::VectorXd theta;        ///< rearranged
  std::vector<UnitMove> moves;  ///< that made it, in their order
};

/// Moves that bring theta near to the reference.
/// @param is_staged  whether families are first matched one after the other by what no other one
///                   still to come touches; otherwise only in turns, from theta as it is.
UnitMatching match_units(std::span<const InterchangeableUnits> families,
                         const Eigen::Ref<const Eigen::VectorXd>& reference,
                         const Eigen::Ref<const Eigen::VectorXd>& theta,
                         bool is_staged);

/// theta after the moves, one after the other.
Eigen::VectorXd rearranged(std::span<const InterchangeableUnits> families,
                           std::span<const UnitMove> moves,
                           Eigen::VectorXd theta);

/// Units that have changed their place, and their sign, of all families after the moves.
struct MovedUnits {
  Eigen::Index num_moved = 0;
  Eigen::Index num_flipped = 0;
};

MovedUnits count_moved(std::span<const InterchangeableUnits> families,
                       std::span<const UnitMove> moves);

}  // namespace hesscope::detail
