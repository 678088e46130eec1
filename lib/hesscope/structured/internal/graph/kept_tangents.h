// SPDX-License-Identifier: BSD-3-Clause
//
// The storage of tangents that are kept from the sweeps of a stage to its products: those of
// entries z and x that may be nonzero, one direction after the other. A row holds the numbers of
// one entry in all packs of a chunk. With many packs, the packs of a row are contiguous; with few,
// the rows of one pack are, since a product that traverses many rows pack by pack would otherwise
// jump through memory.
#pragma once

#include <span>
#include <vector>

#include <hesscope/structured/internal/graph/direction_blocks.h>
#include <hesscope/structured/internal/graph/graph_layout.h>

namespace hesscope::detail {

/// Doubles from one row of so many packs to the next: an odd number of cache lines, since rows
/// whose distance is a power of two share the same few lines of a cache.
inline long row_step(long num_packs) { return (num_packs | 1) * kPackSamples; }

/// The rows of a block that may be nonzero in a block of directions; the others are not kept.
struct LiveRows {
  Interval positions = {};
  Interval cols = {};       ///< at each of them, in multiples of kPanelRows or to the last
  int first = 0;            ///< index among the direction's rows
  bool is_complete = true;  ///< whether all have tangents; otherwise some are zeros

  int width() const { return cols.end - cols.begin; }

  int length() const { return positions.end - positions.begin; }

  int row(int t, int k) const { return first + (k - cols.begin) * length() + t - positions.begin; }
};

/// For one block of directions.
struct KeptRows {
  std::vector<LiveRows> adjoints;  ///< E: for the z of each use
  std::vector<LiveRows> tangents;  ///< J: for each of GraphLayout::tangent_blocks()
  int count = 0;                   ///< per direction: an odd number, or 0
};

/// Doubles from one to the next.
struct KeptSteps {
  long row;
  long pack;
  long direction;
};

KeptSteps kept_steps(const KeptRows& rows, int num_packs);

/// For each block of the planner; empty for those whose directions are parameters.
std::vector<KeptRows> kept_rows(const ParameterUses& uses,
                                const GraphLayout& layout,
                                const DirectionPlanner& planner);

/// The tangents of blocks from first_block on.
struct KeptTangents {
  int first_block = 0;
  std::span<const KeptRows> blocks = {};
  std::span<const long> first_rows = {};  ///< for each block, its first row in `data`
  int num_packs = 0;
  const double* data = nullptr;

  // Directions are counted from the first one of first_block.

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
