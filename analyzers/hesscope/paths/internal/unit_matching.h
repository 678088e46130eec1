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

/// Which unit of a family moves to each place, and with which sign.
struct UnitPlaces {
  std::vector<Eigen::Index> sources;
  std::vector<int> signs;
};

/// A rearrangement of one family. Moves of families that contain each other's parameters do not
/// commute.
struct UnitMove {
  std::size_t family;
  UnitPlaces places;
};

struct UnitMatching {
  Eigen::VectorXd theta;        ///< rearranged
  std::vector<UnitMove> moves;  ///< the moves that led there, in order
};

/// Moves that bring theta near to the reference.
/// @param is_staged  whether families are first matched one after the other, by parameters that no
///                   later family touches; otherwise only in turns, starting from theta as it is.
UnitMatching match_units(std::span<const InterchangeableUnits> families,
                         const Eigen::Ref<const Eigen::VectorXd>& reference,
                         const Eigen::Ref<const Eigen::VectorXd>& theta,
                         bool is_staged);

/// theta after all moves, in order.
Eigen::VectorXd rearranged(std::span<const InterchangeableUnits> families,
                           std::span<const UnitMove> moves,
                           Eigen::VectorXd theta);

/// Units of all families that have changed places, and signs, after the moves.
struct MovedUnits {
  Eigen::Index num_moved = 0;
  Eigen::Index num_flipped = 0;
};

MovedUnits count_moved(std::span<const InterchangeableUnits> families,
                       std::span<const UnitMove> moves);

}  // namespace hesscope::detail
