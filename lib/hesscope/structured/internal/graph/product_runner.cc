// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <vector>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/structured/internal/graph/product_task.h>

namespace hesscope::detail {
namespace {

// Number of positions per access to H.
int positions_at_once(int num_packs) { return std::max(1, kMaxInner / num_packs); }

}  // namespace

class ProductRunner : ProductTaskView {
 public:
  explicit ProductRunner(const ProductTaskView& task) : ProductTaskView(task) {}

  void run() {
    for (int s = task_.first; s < task_.end; s += positions_at_once(rows_.num_packs)) {
      run_positions(s, std::min(s + positions_at_once(rows_.num_packs), task_.end));
    }
  }

 private:
  using RowPanel = CurvatureProducts::RowPanel;

  struct Column {
    int theta;
    int unit;  // of the row use, if also the column's; otherwise -1
    int input;
  };

  // Positions at which J is live for some of the columns.
  Interval tangent_positions(int direction, int first_col, int num_cols) const {
    const LiveRows live = tangent_live(direction);
    const bool is_live = first_col < live.cols.end && first_col + num_cols > live.cols.begin;
    return is_live ? live.positions : Interval{};
  }

  void run_positions(int first, int end) {
    const ParameterUse& column = column_;
    const bool is_own = task_.column_use == task_.row_use;
    const bool is_own_group =
        all_.planner_.group_of(task_.column_use) == all_.planner_.group_of(task_.row_use);
    const bool has_repeats = is_own_group && group().has_repeats;
    const bool is_free = is_own && all_.is_free_[at(task_.row_use)];
    const int inner = (end - first) * rows_.num_packs;
    const long panel_size = long{inner} * kPanelRows * kPackSamples;
    panels_.clear();
    products_.clear();
    for (int p = task_.rows.begin; p < task_.rows.end; ++p) {
      const RowPanel& panel = all_.panels_[at(task_.row_use)][at(p)];
      if (is_own && !has_repeats && !is_tangents() && panel.last_unit < task_.unit) continue;
      panels_.push_back(&panel);
    }
    for (std::size_t p = 0; p < panels_.size();) {
      const int count = panels_together(p);
      for (int s = first; s < end; ++s) {
        set_panels(*panels_[p],
                   count,
                   panel_size,
                   direction_of(s),
                   row_panels_ + static_cast<long>(p) * panel_size +
                       long{s - first} * kPanelRows * row_size_);
      }
      p += at(count);
    }
    all_.kernels_.multiply(products_);
    if (panels_.empty()) return;
    const auto num_panels = static_cast<int>(panels_.size());
    for (int b = 0; b < column.inputs; b += all_.packs_.tile_cols) {
      const int num_cols = std::min(all_.packs_.tile_cols, column.inputs - b);
      // The panels that columns from b on do not need, nor those after them.
      const auto skipped_before = [&](int col, int from) {
        while (is_free && from < num_panels && panels_[at(from)]->last_input < col) ++from;
        return from;
      };
      const int skipped = skipped_before(b, 0);
      if (skipped == num_panels) return;
      prefetch(column, b, num_cols, skipped);
      const double* columns = column_panel_;
      if (column.is_per_unit) {
        fill_gain(first, end);
      } else {
        const long panel = long{b / kPanelCols} * kPanelCols;
        columns = rows_.x_panels[at(task_.column_use)] +
                  (panel * column.positions + long{first} * kPanelCols) * row_size_ +
                  b % kPanelCols;
      }
      const int lanes = all_.packs_.lanes;
      for (int k = lanes, from = skipped; from < num_panels; k += lanes) {
        const int until = k < num_cols ? skipped_before(b + k, from) : num_panels;
        if (until > from) {
          all_.packs_.inner_products(results_ + long{from - skipped} * kPanelRows,
                                     1,
                                     kTaskRows,
                                     row_panels_ + from * panel_size,
                                     until - from,
                                     columns,
                                     std::min(k, num_cols),
                                     inner);
        }
        from = until;
      }
      for (int k = 0, from = skipped; k < num_cols; ++k) {
        if (k % lanes == 0) from = skipped_before(b + k, from);
        const int theta = column.theta[at(task_.unit * column.inputs + b + k)];
        if (theta < 0) continue;
        const double* result = results_ + long{k} * kTaskRows + long{from - skipped} * kPanelRows;
        for (int p = from; p < num_panels; ++p, result += kPanelRows) {
          if (is_tangents()) {
            write_tangents(*panels_[at(p)], theta, result);
          } else if (is_own || has_repeats) {
            write_own(*panels_[at(p)], {theta, is_own ? task_.unit : -1, b + k}, result);
          } else {
            write(*panels_[at(p)], theta, result);
          }
        }
      }
    }
  }

  // H is far larger than any cache.
  void prefetch(const ParameterUse& column, int b, int num_cols, int skipped) const {
    for (int k = b; k < b + num_cols; ++k) {
      const int col = column.theta[at(task_.unit * column.inputs + k)];
      if (col < 0) continue;
      const double* const to = h_.data + col * h_.stride;
      for (std::size_t p = at(skipped); p < panels_.size(); ++p) {
        if (panels_[p]->run > col) __builtin_prefetch(to + panels_[p]->run, 1, 2);
      }
    }
  }

  const UseGroup& group() const {
    return all_.planner_.groups()[at(all_.planner_.group_of(task_.row_use))];
  }

  // One column, x[s,a] for the current unit, and zeros.
  void fill_gain(int first, int end) {
    std::array<const double*, kPanelCols> x;
    x.fill(rows_.zeros);
    for (int s = first; s < end; ++s) {
      x[0] = value_row(column_rows_, s, task_.unit);
      all_.packs_.fill_columns(column_panel_ + long{s - first} * kPanelCols * row_size_,
                               x.data(),
                               nullptr,
                               kPackSamples,
                               1,
                               rows_.num_packs);
    }
  }

  // The number of panels from here on that have the same inputs, for successive units.
  int panels_together(std::size_t p) const {
    if (!is_of_one_unit(*panels_[p])) return 1;
    int count = 1;
    while (p + at(count) < panels_.size() && is_of_one_unit(*panels_[p + at(count)]) &&
           panels_[p + at(count)]->first == panels_[p]->first + count * use_.inputs) {
      ++count;
    }
    return count;
  }

  bool is_of_one_unit(const RowPanel& panel) const {
    return panel.step == 1 && use_.inputs >= kPanelRows;
  }

  // dg/dd of the parameters of `count` panels.
  void set_panels(const RowPanel& panel, int count, long panel_size, int direction, double* to) {
    const int unit = panel.first / use_.inputs;
    const int input = panel.first % use_.inputs;
    const Interval adjoints = adjoint_live(direction).positions;
    if (use_.is_per_unit) return set_gains(panel, adjoints, direction, to);
    const bool is_row = is_of_one_unit(panel);
    const Interval tangents = tangent_positions(direction, input, is_row ? kPanelRows : 1);
    if (adjoints.is_empty() && tangents.is_empty()) {
      for (int k = 0; k < count; ++k) {
        std::fill_n(to + k * panel_size, kPanelRows * row_size_, 0.0);
      }
      return;
    }
    RowProduct product{.out = to,
                       .out_first_stride = is_row ? panel_size : kPackSamples,
                       .out_second_stride = kPackSamples,
                       .out_pack_stride = long{kPanelRows} * kPackSamples,
                       .terms = {},
                       .num_terms = 0,
                       .rows = is_row ? count : panel.count,
                       .cols = is_row ? kPanelRows : 1,
                       .num_packs = rows_.num_packs};
    if (!adjoints.is_empty()) {
      product.terms[product.num_terms++] = {
          tangents_from(adjoint_live(direction), unit, direction),
          {value_row(own_, adjoints.begin, input), row_step_ * use_.inputs, row_step_},
          adjoints.end - adjoints.begin};
    }
    if (!tangents.is_empty()) {
      product.terms[product.num_terms++] = {
          {delta_row(tangents.begin, unit), row_step_, row_step_ * use_.units},
          tangents_from(tangent_live(direction), input, direction).transposed(),
          tangents.end - tangents.begin};
    }
    products_.push_back(product);
    if (!is_row) clear_last_rows(to, panel.count);
  }

  // For gains, sum_t E[t,i] x[t,i] + delta[t,i] J[t,i]: a diagonal.
  void set_gains(const RowPanel& panel, Interval adjoints, int direction, double* to) {
    const int i = panel.first;
    const Interval tangents = tangent_positions(direction, i, panel.count);
    const long step = row_step_ * use_.units;
    RowProduct product{.out = to,
                       .out_first_stride = kPackSamples,
                       .out_second_stride = 0,
                       .out_pack_stride = long{kPanelRows} * kPackSamples,
                       .terms = {},
                       .num_terms = 0,
                       .rows = panel.count,
                       .cols = panel.count,
                       .num_packs = rows_.num_packs,
                       .is_diagonal = true};
    if (!adjoints.is_empty()) {
      product.terms[product.num_terms++] = {tangents_from(adjoint_live(direction), i, direction),
                                            {value_row(own_, adjoints.begin, i), step, row_step_},
                                            adjoints.end - adjoints.begin};
    }
    if (!tangents.is_empty()) {
      product.terms[product.num_terms++] = {
          {delta_row(tangents.begin, i), row_step_, step},
          tangents_from(tangent_live(direction), i, direction).transposed(),
          tangents.end - tangents.begin};
    }
    if (product.num_terms == 0) {
      std::fill_n(to, kPanelRows * row_size_, 0.0);
      return;
    }
    products_.push_back(product);
    clear_last_rows(to, panel.count);
  }

  int theta(const RowPanel& panel, int r) const {
    return use_.theta[at(panel.first + r * panel.step)];
  }

  bool is_tangents() const { return task_.part == ProductPart::kTangents; }

  void write_tangents(const RowPanel& panel, int col, const double* result) const {
    for (int r = 0; r < panel.count; ++r) {
      if (theta(panel, r) >= 0) h_.add_tangent(theta(panel, r), col, scale_ * result[r]);
    }
  }

  // For parameters of different uses.
  void write(const RowPanel& panel, int col, const double* result) const {
    if (panel.run > col) {
      double* const __restrict to = h_.data + panel.run + col * h_.stride;
      if (panel.count == kPanelRows) {
        for (int r = 0; r < kPanelRows; ++r) to[r] += scale_ * result[r];
      } else {
        for (int r = 0; r < panel.count; ++r) to[r] += scale_ * result[r];
      }
      return;
    }
    for (int r = 0; r < panel.count; ++r) {
      if (theta(panel, r) >= 0) h_.of_pair(theta(panel, r), col) += scale_ * result[r];
    }
  }

  // For parameters of one use, or of uses that share parameters: pairs that occur twice are added
  // once. Those of one unit are selected by their inputs, as panels are skipped, in whatever order
  // their parameters are.
  void write_own(const RowPanel& panel, const Column& column, const double* result) const {
    if (column.unit >= 0 && panel.first / use_.inputs > column.unit && !group().has_repeats) {
      return write(panel, column.theta, result);
    }
    for (int r = 0; r < panel.count; ++r) {
      const int row = theta(panel, r);
      if (row < 0) continue;
      const bool is_once = column.unit >= 0 && !group().has_repeats;
      const int place = panel.first + r * panel.step;
      const int unit = place / use_.inputs;
      const int input = place % use_.inputs;
      const bool is_wanted =
          is_once ? unit > column.unit || (unit == column.unit && input >= column.input)
                  : row >= column.theta;
      if (is_wanted) h_.of_pair(row, column.theta) += scale_ * result[r];
    }
  }

  std::vector<const RowPanel*> panels_;
  std::vector<RowProduct> products_;
};

void run_product(const ProductTaskView& task) { ProductRunner(task).run(); }

}  // namespace hesscope::detail
