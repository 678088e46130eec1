// SPDX-License-Identifier: BSD-3-Clause
//
// Where tangents lie that are kept from the sweeps of a stage to its products: those of entries z
// and x that may differ from zero, one direction's behind the other's. A row is an entry's numbers
// in all packs of a chunk. Of many packs they follow each other; of few, the rows of one pack do,
// since a product that goes through many rows pack by pack would else jump through memory.
#pragma once

#include <span>
#include <vector>

#include <hesscope/structured/internal/graph/direction_blocks.h>
#include <hesscope/structured/internal/graph/graph_layout.h>

namespace hesscope::detail {

/// Doubles from one row of so many packs to the next: an odd number of cache lines, since rows that
/// are powers of two apart lie in the same few lines of a cache.
inline long row_step(long num_packs) { return (num_packs | 1) * kPackSamples; }

/// Of a block of rows, those that may differ from zero in a block of directions: the others are not
/// kept.
struct LiveRows {
  Interval positions = {};
  Interval cols = {};       ///< at each of them, in multiples of kPanelRows or to the last
  int first = 0;            ///< which of the direction's rows
  bool is_complete = true;  ///< whether all have tangents; else some are zeros

  int width() const { return cols.end - cols.begin; }

  int length() const { return positions.end - positions.begin; }

  int row(int t, int k) const { return first + (k - cols.begin) * length() + t - positions.begin; }
};

/// Of one block of directions.
struct KeptRows {
  std::vector<LiveRows> adjoints;  ///< E: of z of each use
  std::vector<LiveRows> tangents;  ///< J: of each of GraphLayout::tangent_blocks()
  int count = 0;                   ///< of one direction: an odd number, or 0
};

/// Doubles from one to the next.
struct KeptSteps {
  long row;
  long pack;
  long direction;
};

KeptSteps kept_steps(const KeptRows& rows, int num_packs);

/// Of each block of the planner; of those whose directions are parameters, none.
std::vector<KeptRows> kept_rows(const ParameterUses& uses,
                                const GraphLayout& layout,
                                const DirectionPlanner& planner);

/// The tangents of blocks from first_block on.
struct KeptTangents {
  int first_block = 0;
  std::span<const KeptRows> blocks = {};
  std::span<const long> first_rows = {};  ///< of each block, its first row in `data`
  int num_packs = 0;
  const double* data = nullptr;

  // Directions are counted from the first of first_block.

  const KeptRows& rows_of(int direction) const {
    return blocks[static_cast<std::size_t>(direction / kDirections)];
  }

  KeptSteps steps_of(int direction) const { return kept_steps(rows_of(direction), num_packs); }

  const double* row(int direction, const LiveRows& live, int t, int k) const {
    const long first = first_rows[static_cast<std::size_t>(direction / kDirections)];
    const KeptSteps steps = steps_of(direction);
    return data + first * row_step(num_packs) + direction % kDirections * steps.direction +
           live.row(t, k) * steps.row;
  }
};

}  // namespace hesscope::detail
