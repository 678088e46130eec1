// SPDX-License-Identifier: BSD-3-Clause
//
// The rows (i,j) of a product are computed for each unit of the column use, and multiplied by its
// inputs b. If the column use has fewer inputs than the row use, the same sums over uses at one
// position each,
//   H[(i,j), (a,b)] = sum (E[i,a] x[b]) x'[j] + (delta[i] x[b]) J[j,a],
// are products with fewer rows, (i,b), and columns j that fill registers.
#include <array>

#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/structured/internal/graph/product_task.h>

namespace hesscope::detail {

class NarrowProductRunner : ProductTaskView {
 public:
  explicit NarrowProductRunner(const ProductTaskView& task)
      : ProductTaskView(task),
        inputs_(task_.inputs.end - task_.inputs.begin),
        panels_of_input_(
            static_cast<int>(ceil_div(task_.rows.end - task_.rows.begin, kPanelRows))) {}

  void run() {
    const int direction = direction_of(0);
    const int first = task_.rows.begin;
    if (!adjoint_live(direction).positions.is_empty()) {
      set_rows(tangents_from(adjoint_live(direction), first, direction));
      const double* const x = rows_.x_panels[at(task_.row_use)];
      for (int j = 0; j < use_.inputs; j += kPanelCols) {
        multiply_and_add(x + j * row_size_, j, std::min(kPanelCols, use_.inputs - j));
      }
    }
    const LiveRows live = tangent_live(direction);
    if (live.positions.is_empty()) return;
    set_rows({delta_row(0, first), row_step_, 0});
    std::array<const double*, kPanelCols> columns;
    for (int j = live.cols.begin; j < live.cols.end; j += kPanelCols) {
      const int count = std::min(kPanelCols, live.cols.end - j);
      columns.fill(value_tangent(0, j, direction));  // those after `count` may be read
      for (int k = 1; k < count; ++k) columns[at(k)] = value_tangent(0, j + k, direction);
      all_.packs_.fill_columns(column_panel_,
                               columns.data(),
                               nullptr,
                               tangents_.steps_of(direction).pack,
                               count,
                               rows_.num_packs);
      multiply_and_add(column_panel_, j, count);
    }
  }

 private:
  // y[i] x[b] of the task's units i: panels of units, ordered by b.
  void set_rows(const RowMatrix& y) const {
    const long panel_size = kPanelRows * row_size_;
    const int units = task_.rows.end - task_.rows.begin;
    for (int i = 0; i < units; i += kPanelRows) {
      const int count = std::min(kPanelRows, units - i);
      double* const to = row_panels_ + i / kPanelRows * panel_size;
      const RowProduct product = {
          .out = to,
          .out_first_stride = panels_of_input_ * panel_size,
          .out_second_stride = kPackSamples,
          .out_pack_stride = long{kPanelRows} * kPackSamples,
          .terms = {{{value_row(column_rows_, 0, task_.inputs.begin), row_step_, 0},
                     {y.data + i * y.first_stride, 0, y.first_stride, y.pack_stride},
                     1}},
          .num_terms = 1,
          .rows = inputs_,
          .cols = count,
          .num_packs = rows_.num_packs};
      all_.kernels_.multiply({&product, 1});
      for (int b = 0; b < inputs_; ++b) {
        clear_last_rows(to + long{b} * panels_of_input_ * panel_size, count);
      }
    }
  }

  // Products of the rows with the columns j, j + 1, ... of a panel.
  void multiply_and_add(const double* panel, int j, int count) const {
    for_results([&](int i, int col, const double*) { prefetch(i, j, count, col); });
    multiply(inputs_ * panels_of_input_, panel, count);
    for_results([&](int i, int col, const double* result) { add(i, j, count, col, result); });
  }

  // Calls visit(i, parameter (a, b), results of row (i, b)).
  template <typename F>
  void for_results(F visit) const {
    for (int b = 0; b < inputs_; ++b) {
      const int col = column_.theta[at(task_.unit * column_.inputs + task_.inputs.begin + b)];
      if (col < 0) continue;
      const double* result = results_ + long{b} * panels_of_input_ * kPanelRows * kPanelCols;
      for (int i = task_.rows.begin; i < task_.rows.end; ++i, result += kPanelCols) {
        visit(i, col, result);
      }
    }
  }

  int inputs_;
  int panels_of_input_;
};

void run_narrow_product(const ProductTaskView& task) { NarrowProductRunner(task).run(); }

}  // namespace hesscope::detail
