// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by the different ways to run a task of curvature_products.h.
#pragma once

#include <algorithm>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/structured/internal/graph/chunk_rows.h>
#include <hesscope/structured/internal/graph/curvature_products.h>

namespace hesscope::detail {

/// Row panels of a task, chosen to stay in a cache of 512 KiB.
inline constexpr int kTaskPanels = 24;
inline constexpr int kTaskRows = kTaskPanels * kPanelRows;

/// Inner packs between two accesses to H ...
inline constexpr int kMaxInner = 64;

/// ... or those of one position, if a chunk has more.
inline long most_inner_packs(int num_packs) { return std::max(kMaxInner, num_packs); }

/// A task, the rows of samples that it reads, and its scratch.
class ProductTaskView {
 public:
  ProductTaskView(const CurvatureProducts& products,
                  const ProductTask& task,
                  const ChunkRows& rows,
                  const KeptTangents& tangents,
                  double* scratch,
                  HessianTarget h)
      : all_(products),
        task_(task),
        rows_(rows),
        tangents_(tangents),
        h_(h),
        use_(products.uses_.uses[at(task.row_use)]),
        own_(products.layout_.rows(task.row_use)),
        column_(products.uses_.uses[at(task.column_use)]),
        column_rows_(products.layout_.rows(task.column_use)),
        scale_(use_.factor * column_.factor),
        row_size_(long{rows.num_packs} * kPackSamples),
        row_step_(row_step(rows.num_packs)),
        row_panels_(scratch),
        column_panel_(row_panels_ + kTaskRows * most_inner_packs(rows.num_packs) * kPackSamples),
        results_(column_panel_ + kPanelCols * most_inner_packs(rows.num_packs) * kPackSamples) {}

 protected:
  // x of a use at position t.
  const double* value_row(const UseRows& use, int t, int k) const {
    return rows_.values + use.x.row(t, k) * row_step_;
  }

  const double* delta_row(int t, int i) const {
    return rows_.adjoints + own_.z.row(t, i) * row_step_;
  }

  // The direction z[s,a], counted from the first of the available tangents.
  int direction_of(int s, int a) const {
    const int z = column_.z[at(s * column_.units + a)];
    return all_.direction_of_entry_[at(z)] - tangents_.first_block * kDirections;
  }

  int direction_of(int s) const { return direction_of(s, task_.unit); }

  // The parts of E and J that are live in a direction.
  const LiveRows& adjoint_live(int direction) const {
    if (task_.part == ProductPart::kTangents) return kNoRows;
    return tangents_.rows_of(direction).adjoints[at(task_.row_use)];
  }

  const LiveRows& tangent_live(int direction) const {
    if (own_.tangents < 0 || task_.part == ProductPart::kAdjoints) return kNoRows;
    return tangents_.rows_of(direction).tangents[at(own_.tangents)];
  }

  // J[t,j], which must be live.
  const double* value_tangent(int t, int j, int direction) const {
    return tangents_.row(direction, tangent_live(direction), t, j);
  }

  // E and J of the units or inputs from k on, at their live positions: (k, t).
  RowMatrix tangents_from(const LiveRows& live, int k, int direction) const {
    const KeptSteps steps = tangents_.steps_of(direction);
    return {tangents_.row(direction, live, live.positions.begin, k),
            steps.row * live.length(),
            steps.row,
            steps.pack};
  }

  // Clears the superfluous rows of an incomplete panel, for one position.
  void clear_last_rows(double* panel, int count) const {
    for (int p = 0; p < rows_.num_packs && count < kPanelRows; ++p) {
      double* const rows = panel + long{p} * kPanelRows * kPackSamples;
      std::fill(rows + long{count} * kPackSamples, rows + long{kPanelRows} * kPackSamples, 0.0);
    }
  }

  // Results: products of num_panels row panels with `count` columns from `panel` on, row by row.
  void multiply(int num_panels, const double* panel, int count) const {
    const int step = all_.packs_.tile_cols;
    for (int k = 0; k < count; k += step) {
      all_.packs_.inner_products(results_ + k,
                                 kPanelCols,
                                 1,
                                 row_panels_,
                                 num_panels,
                                 panel + k,
                                 std::min(step, count - k),
                                 rows_.num_packs);
    }
  }

  // Adds to the row use's parameters from (i, j) on, in column `col`.
  void add(int i, int j, int count, int col, const double* result) const {
    const int place = i * use_.inputs + j;
    for (int k = 0; k < count;) {
      const int row = use_.theta[at(place + k)];
      const int run = std::min(count - k, all_.runs_[at(task_.row_use)][at(place + k)]);
      if (row > col) {
        double* const to = h_.data + row + col * h_.stride;
        for (int r = 0; r < run; ++r) to[r] += scale_ * result[k + r];
      } else if (row >= 0) {
        for (int r = 0; r < run; ++r) h_.of_pair(row + r, col) += scale_ * result[k + r];
      }
      k += run;
    }
  }

  // H is far larger than any cache: prefetches what add() will change.
  void prefetch(int i, int j, int count, int col) const {
    const int row = use_.theta[at(i * use_.inputs + j)];
    if (row <= col) return;
    const double* const to = h_.data + row + col * h_.stride;
    for (int k = 0; k < count; k += kPackSamples) __builtin_prefetch(to + k, 1, 2);
  }

  static constexpr LiveRows kNoRows = {};

  const CurvatureProducts& all_;
  const ProductTask& task_;
  const ChunkRows& rows_;
  const KeptTangents& tangents_;
  HessianTarget h_;
  const ParameterUse& use_;  // of the rows
  const UseRows& own_;
  const ParameterUse& column_;
  const UseRows& column_rows_;
  double scale_;
  long row_size_;
  long row_step_;
  double* row_panels_;
  double* column_panel_;
  double* results_;
};

/// One task of each kind; see CurvatureProducts::run().
void run_product(const ProductTaskView& task);
void run_narrow_product(const ProductTaskView& task);
void run_pair_product(const ProductTaskView& task);

}  // namespace hesscope::detail
