// SPDX-License-Identifier: BSD-3-Clause
//
// Columns of H whose directions are parameters, computed as soon as their tangents are available,
// so that none are kept. For each part of a pack of samples
//   (dg[i,j])_d += sum_t (E[t,i])_d x[t,j] + delta[t,i] (J[t,j])_d,
// which are two matrix products with inner index (position, sample): of E[t,i] with a panel of x,
// and of J[t,j] with a panel of delta.
#pragma once

#include <vector>

#include <hesscope/structured/internal/graph/chunk_rows.h>
#include <hesscope/structured/internal/graph/curvature_products.h>

namespace hesscope::detail {

/// The tangents of a part of a pack.
struct PackSweep {
  PackPoint point;
  long pack;  ///< of the chunk
  int part;
  const double* tangents;
  const double* adjoint_tangents;
};

class DirectionProducts {
 public:
  DirectionProducts(const ParameterUses& uses,
                    const EntryNumbers& entries,
                    const GraphLayout& layout,
                    const DirectionPlanner& planner,
                    InstructionSet set);

  /// Doubles of sums for a block, aligned to 64 bytes.
  long sums_size() const { return sums_size_; }

  /// Doubles of a use's panels of delta in a chunk.
  long z_panels_size(int use, int num_packs) const;

  /// Fills the panels that add_part() reads.
  void fill_panels(int use, const ChunkRows& rows, double* z_panels) const;

  /// Adds the products for a part of pack p, whose tangents have been computed.
  void add_part(const DirectionBlock& block,
                const ChunkRows& rows,
                const PackSweep& sweep,
                double* sums) const;

  /// Adds the sums to H. Writes only to the columns of the block's directions, in either triangle,
  /// so that blocks can be written concurrently.
  void write(const DirectionBlock& block, const double* sums, HessianTarget h) const;

 private:
  // Positions at which a unit's z, or an input's x, is stored at fixed steps.
  struct Run {
    int first;  // position
    int positions;
    int node;
    int tangent;  // entry of the tangents
    int step;
    int other;  // for a gain: pack of the values or adjoints that are the other factor
    int other_step;
  };

  using RunsOfLines = std::vector<std::vector<Run>>;

  struct Target {
    int use;
    ProductPart part;
    long of_adjoints;  // first of its sums: (i, d, j) at (i * kDirections + d) * x_width + j
    long of_tangents;  // the same, (j, d, i); for a gain both are (i, d)
  };

  void find_ranks();
  static void append(const Run& next, std::vector<Run>& runs);
  void list_runs(int use, const EntryNumbers& entries);
  bool takes_z_panels(int use) const;

  const ParameterUses& uses_;
  const GraphLayout& layout_;
  const DirectionPlanner& planner_;
  const TangentKernels& kernels_;
  const PackKernels& packs_;
  std::vector<RunsOfLines> z_runs_;  // for each use: of its units
  std::vector<RunsOfLines> x_runs_;  // of its inputs, or of a gain's units
  std::vector<int> ranks_;           // for each parameter that is a direction: rank in its group
  std::vector<std::vector<int>> last_ranks_;  // for each use: of a unit's parameters
  std::vector<std::vector<Target>> targets_;  // for each group
  long sums_size_ = 0;
};

}  // namespace hesscope::detail
