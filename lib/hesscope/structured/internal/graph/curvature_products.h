// SPDX-License-Identifier: BSD-3-Clause
//
// Computes H from the tangents of a chunk of samples.
//
// With delta = dL/dz, and for each direction d the tangents E = ddelta/dd and J = dx/dd, parameter
// (i, j) of a use has the derivative g[i,j] = sum_t delta[t,i] x[t,j] and
//   dg[i,j]/dd = sum_t E[t,i] x[t,j] + delta[t,i] J[t,j].
// If directions are parameters, this is a column of H (direction_products.h). If they are the
// entries z[s,a] of another use,
//   H[(i,j), (a,b)] = sum_s (dg[i,j]/dz[s,a]) x[s,b] + ...
// The omitted terms are the dependence of delta on the parameters that it passes on its way back,
// rather than on z: if z[s,a] comes after z[t,i], this is the term delta[s,a] (dx[s,b]/dz[t,i])
// x[t,j], the same as the one with J, with rows and columns exchanged. So
//   H = E part + J part + (J part)^T,
// and since usually one of two uses precedes the other, one of the last two is zero. The E part and
// such a J part are processed together, into the lower triangle. A J part within a group, or for an
// earlier group's rows, is added unchanged to either triangle; both triangles are added up at the
// end.
//
// Both are matrix products with samples and positions as the inner index, divided into tasks such
// that no two that run at the same time write to the same entry of H.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include <hesscope/structured/internal/graph/chunk_rows.h>
#include <hesscope/structured/internal/graph/direction_blocks.h>
#include <hesscope/structured/internal/graph/graph_layout.h>
#include <hesscope/structured/internal/graph/input_pairs.h>
#include <hesscope/structured/internal/graph/kept_tangents.h>

namespace hesscope::detail {

/// Column-major. Outside the diagonal, H is the sum of this matrix and its transpose.
struct HessianTarget {
  double* data;
  long stride;

  /// The entry on or below the diagonal that represents a pair of parameters.
  double& of_pair(int a, int b) const { return data[std::max(a, b) + std::min(a, b) * stride]; }

  /// Adds to a J part in the triangle where it lies; the other triangle's part is added separately.
  void add_tangent(int row, int col, double value) const {
    data[row + col * stride] += row == col ? 2 * value : value;
  }
};

enum class ProductPart { kBoth, kAdjoints, kTangents };  // E and J, E, J

enum class ProductKind {
  kRows,    // product_runner.cc
  kNarrow,  // narrow_product_runner.cc
  kPairs,   // pair_product_runner.cc
};

struct ProductTask {
  ProductKind kind = ProductKind::kRows;
  ProductPart part = ProductPart::kBoth;
  long wave = 0;  ///< tasks of one wave write to different entries
  int row_use = 0;
  int column_use = 0;
  int unit = 0;   ///< of the column use; the first one for pairs
  int first = 0;  ///< positions of the column use
  int end = 0;
  /// Panels of the row use for kRows, its units for kNarrow; for kPairs see for_unit_pairs().
  Interval rows = {};
  Interval inputs = {};    ///< of the column use
  long multiply_adds = 0;  ///< per sample
};

/// Calls visit(i, a) for the rows of a task of kind kPairs: for each unit a of the columns in turn,
/// the units i from a on, starting at (rows.begin, unit).
template <typename F>
void for_unit_pairs(const ProductTask& task, int num_units, F visit) {
  int i = task.rows.begin;
  int a = task.unit;
  for (int row = task.rows.begin; row < task.rows.end; ++row) {
    visit(i, a);
    if (++i == num_units) i = ++a;
  }
}

class CurvatureProducts {
 public:
  CurvatureProducts(const ParameterUses& uses,
                    const GraphLayout& layout,
                    const DirectionPlanner& planner,
                    InstructionSet set);

  /// Tasks of blocks [first_block, end_block), whose directions are entries, ordered by wave.
  std::vector<ProductTask> tasks(int first_block, int end_block) const;

  /// The parameters of one of a task's own units, and that unit's portion of the task.
  struct UnitColumns {
    std::vector<int> columns;
    double multiply_adds;
  };

  std::vector<UnitColumns> own_columns_of(const ProductTask& task) const;

  /// Columns of the target that a task may write to, its own columns first.
  std::vector<int> columns_of(const ProductTask& task) const;

  /// Calls visit(block) for the blocks whose tangents a task reads.
  template <typename F>
  void for_blocks_of(const ProductTask& task, F visit) const {
    const ParameterUse& use = uses_.uses[static_cast<std::size_t>(task.column_use)];
    for (const UnitRows& own : units_of(task)) {
      for (int s = task.first; s < task.end; ++s) {
        const int z = use.z[static_cast<std::size_t>(long{s} * use.units + own.unit)];
        visit(direction_of_entry_[static_cast<std::size_t>(z)] / kDirections);
      }
    }
  }

  /// Doubles of one use's panels in a chunk; if it is_paired(), those of x[j] x[b] follow.
  long x_panels_size(int use, int num_packs) const;

  void fill_panels(int use, const ChunkRows& rows, double* x_panels) const;

  int num_pair_panels(int use) const;

  /// Fills one of the panels of pairs, which follow the use's own.
  void fill_pair_panel(int use, int panel, const ChunkRows& rows, double* x_panels) const;

  /// Doubles of scratch, aligned to 64 bytes, for run().
  static long scratch_size(int num_packs);

  void run(const ProductTask& task,
           const ChunkRows& rows,
           const KeptTangents& tangents,
           double* scratch,
           HessianTarget h) const;

  /// To be called once for each unit of each use, after all tasks for all samples.
  void complete(int use, int unit, HessianTarget h) const;

 private:
  friend class ProductTaskView;
  friend class ProductRunner;
  friend class NarrowProductRunner;
  friend class PairProductRunner;

  // Up to kPanelRows parameters of a use: (i, j) is i * inputs + j, and consecutive ones are `step`
  // apart, 1 for inputs of one unit and `inputs` for units of one input.
  struct RowPanel {
    int first;
    int step = 1;
    int count = kPanelRows;
    int last_unit = 0;
    int last_input = 0;
    int run = -1;  // its parameters are run, run + 1, ...; otherwise -1
  };

  void list_panels();
  void list_runs();
  bool find_narrow(int row_use, int column_use) const;
  void add_tasks(ProductTask task, std::vector<ProductTask>& tasks) const;
  void add_pair_tasks(int use,
                      int first_block,
                      int end_block,
                      std::vector<ProductTask>& tasks) const;

  // Belongs to the column use: the task's rows that belong to one of its units.
  struct UnitRows {
    int unit;
    int num_rows;
  };

  std::vector<UnitRows> units_of(const ProductTask& task) const;

  // Whether z is a direction of blocks [first_block, end_block).
  bool is_direction_of(int z, int first_block, int end_block) const {
    const int direction = direction_of_entry_[static_cast<std::size_t>(z)];
    return direction >= first_block * kDirections && direction < end_block * kDirections;
  }

  bool is_narrow(int row_use, int column_use) const {
    return is_narrow_[static_cast<std::size_t>(row_use) * uses_.uses.size() +
                      static_cast<std::size_t>(column_use)] != 0;
  }

  bool is_paired(int use) const { return !pairs_->of(use).empty(); }

  const ParameterUses& uses_;
  const GraphLayout& layout_;
  const DirectionPlanner& planner_;
  const PackKernels& packs_;
  const TangentKernels& kernels_;
  std::vector<std::vector<RowPanel>> panels_;  // for each use
  // For each use: how many parameters from (i, j) on, of unit i, are consecutive.
  std::vector<std::vector<int>> runs_;
  std::vector<int> place_in_group_;
  std::vector<int> direction_of_entry_;  // kDirections * block + direction; -1
  std::vector<char> is_narrow_;          // for each pair of row use and column use
  std::vector<char> is_free_;  // for each use: one position, and x does not depend on its own z
  std::optional<InputPairs> pairs_;
};

}  // namespace hesscope::detail
