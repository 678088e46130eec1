// SPDX-License-Identifier: BSD-3-Clause
//
// If a use has one position and x does not depend on its z, H[(i,j), (a,b)] = sum E[i,a] x[j] x[b]
// is symmetric in j and b. The products for pairs b <= j are computed once per chunk, without
// separate rows: the rows are E[i,a], for each unit a in turn and the units i from a on.
#include <cstring>

#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/structured/internal/graph/chunk_rows.h>
#include <hesscope/structured/internal/graph/product_task.h>

namespace hesscope::detail {

class PairProductRunner : ProductTaskView {
 public:
  explicit PairProductRunner(const ProductTaskView& task) : ProductTaskView(task) {}

  void run() {
    set_rows();
    const int rows = task_.rows.end - task_.rows.begin;
    const auto num_panels = static_cast<int>(ceil_div(rows, kPanelRows));
    const double* panel = rows_.x_panels[at(task_.row_use)] + panels_size(own_.x, rows_.num_packs);
    const auto num_pairs = static_cast<int>(pairs().size());
    for (int first = 0; first < num_pairs; first += kPanelCols, panel += kPanelCols * row_size_) {
      const int end = std::min(first + kPanelCols, num_pairs);
      for_lines(first, end, [&](int i, int j, int count, int col, const double*) {
        prefetch(i, j, count, col);
      });
      multiply(num_panels, panel, end - first);
      for_lines(first, end, [&](int i, int j, int count, int col, const double* result) {
        add(i, j, count, col, result);
      });
    }
  }

 private:
  std::span<const InputPair> pairs() const { return all_.pairs_->of(task_.row_use); }

  // E[i,a] of the task's rows.
  void set_rows() const {
    int row = 0;
    const long panel_size = kPanelRows * row_size_;
    for_unit_pairs(task_, use_.units, [&](int i, int a) {
      double* const to =
          row_panels_ + row / kPanelRows * panel_size + long{row % kPanelRows} * kPackSamples;
      const auto copy = [&](const double* from, long step) {
        for (int p = 0; p < rows_.num_packs; ++p) {
          std::memcpy(to + long{p} * kPanelRows * kPackSamples,
                      from + p * step,
                      kPackSamples * sizeof(double));
        }
      };
      const int direction = direction_of(0, a);
      const LiveRows& live = adjoint_live(direction);
      if (live.positions.is_empty()) {
        copy(rows_.zeros, 0);
      } else {
        const RowMatrix rows = tangents_from(live, i, direction);
        copy(rows.data, rows.pack_stride);
      }
      ++row;
    });
    const int last = row % kPanelRows;
    if (last > 0) clear_last_rows(row_panels_ + row / kPanelRows * panel_size, last);
  }

  // Calls visit(i, j, count, parameter (a, b), results) for the rows and for the pairs (b, j), (b,
  // j + 1), ... among those from `first` on.
  template <typename F>
  void for_lines(int first, int end, F visit) const {
    for (int c = first; c < end;) {
      const auto [b, j] = pairs()[at(c)];
      const int count = std::min(end - c, use_.inputs - j);
      const double* result = results_ + (c - first);
      for_unit_pairs(task_, use_.units, [&, b = b, j = j](int i, int a) {
        const int col = use_.theta[at(a * use_.inputs + b)];
        visit(i, j, count, col, result);
        result += kPanelCols;
      });
      c += count;
    }
  }
};

void run_pair_product(const ProductTaskView& task) { PairProductRunner(task).run(); }

}  // namespace hesscope::detail
