// SPDX-License-Identifier: BSD-3-Clause
//
// Where a use has one position and x does not depend on its z, H[(i,j), (a,b)] = sum E[i,a] x[j]
// x[b] is symmetric in j and b. The products of pairs b <= j are made once for a chunk, and no
// rows: they are the E[i,a], for the units i from a on.
#include <cstring>

#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/structured/internal/graph/chunk_rows.h>
#include <hesscope/structured/internal/graph/product_task.h>

namespace hesscope::detail {

class PairProductRunner : ProductTaskView {
 public:
  explicit PairProductRunner(const ProductTaskView& task) : ProductTaskView(task) {}

  void run() {
    const int direction = direction_of(0);
    if (adjoint_live(direction).positions.is_empty()) return;
    set_rows(tangents_from(adjoint_live(direction), task_.rows.begin, direction));
    const auto num_panels =
        static_cast<int>(ceil_div(task_.rows.end - task_.rows.begin, kPanelRows));
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
  const std::vector<CurvatureProducts::InputPair>& pairs() const {
    return all_.pairs_[at(task_.row_use)];
  }

  // E[i,a] of the task's units i, the first at `from`.
  void set_rows(const RowMatrix& from) const {
    const int units = task_.rows.end - task_.rows.begin;
    for (int i = 0; i < units; i += kPanelRows) {
      double* const panel = row_panels_ + i * row_size_;
      const int count = std::min(kPanelRows, units - i);
      for (int r = 0; r < count; ++r) {
        const double* const row = from.data + (i + r) * from.first_stride;
        for (int p = 0; p < rows_.num_packs; ++p) {
          std::memcpy(panel + (long{p} * kPanelRows + r) * kPackSamples,
                      row + p * from.pack_stride,
                      kPackSamples * sizeof(double));
        }
      }
      clear_last_rows(panel, count);
    }
  }

  // Calls visit(i, j, count, parameter (a, b), results) for the pairs (b, j), (b, j + 1), ... among
  // those from `first` on.
  template <typename F>
  void for_lines(int first, int end, F visit) const {
    for (int c = first; c < end;) {
      const auto [b, j] = pairs()[at(c)];
      const int count = std::min(end - c, use_.inputs - j);
      const int col = use_.theta[at(task_.unit * use_.inputs + b)];
      const double* result = results_ + (c - first);
      for (int i = task_.rows.begin; i < task_.rows.end && col >= 0; ++i, result += kPanelCols) {
        visit(i, j, count, col, result);
      }
      c += count;
    }
  }
};

void run_pair_product(const ProductTaskView& task) { PairProductRunner(task).run(); }

}  // namespace hesscope::detail
