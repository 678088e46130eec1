// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstring>

#include <hesscope/structured/internal/graph/curvature_products.h>
#include <hesscope/structured/internal/graph/indexing.h>

namespace hesscope::detail {
namespace {

// Panels of a task: their rows stay in a cache of 512 KiB. Inner packs between two visits to H.
constexpr int kTaskPanels = 24;
constexpr int kTaskRows = kTaskPanels * kPanelRows;
constexpr int kMaxInner = 96;
// Numbers of waves: of rows below those of columns, J parts that go to either triangle behind others.
constexpr int kWaves = 1 << 15;
constexpr int kTangentWave = kWaves / 2;
// Inputs and units whose panels follow each other: lines of H, and a task.
constexpr int kJoinedInputs = 8;
constexpr int kJoinedUnits = kTaskPanels * kPanelRows / kJoinedInputs;

// Positions in one visit to H.
int positions_at_once(int num_packs) { return std::max(1, kMaxInner / num_packs); }

// Of them with so many packs, or fewer.
long most_inner_packs(int num_packs) { return std::max(kMaxInner, num_packs); }

}  // namespace

CurvatureProducts::CurvatureProducts(const ParameterUses& uses,
                                     const GraphLayout& layout,
                                     const DirectionPlanner& planner,
                                     InstructionSet set)
    : uses_(uses),
      layout_(layout),
      planner_(planner),
      packs_(pack_kernels(set)),
      kernels_(tangent_kernels(set)),
      group_of_use_(uses.uses.size()),
      place_in_group_(uses.uses.size()),
      direction_of_entry_(at(uses.num_entries), -1) {
  const auto& groups = planner.groups();
  for (int g = 0; g < static_cast<int>(groups.size()); ++g) {
    for (std::size_t k = 0; k < groups[at(g)].uses.size(); ++k) {
      group_of_use_[at(groups[at(g)].uses[k])] = g;
      place_in_group_[at(groups[at(g)].uses[k])] = static_cast<int>(k);
    }
  }
  const auto& blocks = planner.blocks();
  for (int b = 0; b < static_cast<int>(blocks.size()); ++b) {
    const UseGroup& group = groups[at(blocks[at(b)].group)];
    if (group.is_by_parameters) continue;
    for (int d = 0; d < blocks[at(b)].count; ++d) {
      direction_of_entry_[at(group.directions[at(blocks[at(b)].first + d)])] = b * kDirections + d;
    }
  }
  list_panels();
  for (int u = 0; u < static_cast<int>(uses.uses.size()); ++u) {
    const ParameterUse& use = uses.uses[at(u)];
    const UseGroup& group = groups[at(group_of_use_[at(u)])];
    is_free_.push_back(use.positions == 1 && !use.is_per_unit && use.inputs > 1 &&
                       !group.has_repeats && !group.is_by_parameters &&
                       !planner_.is_fed(u, group_of_use_[at(u)]));
  }
}

void CurvatureProducts::list_panels() {
  for (const ParameterUse& use : uses_.uses) {
    std::vector<RowPanel> panels;
    const int whole = use.inputs / kPanelRows * kPanelRows;
    for (int line = 0; line < whole; line += kJoinedInputs) {
      for (int first = 0; first < use.units; first += kJoinedUnits) {
        const int end = std::min(first + kJoinedUnits, use.units);
        for (int j = line; j < std::min(line + kJoinedInputs, whole); j += kPanelRows) {
          for (int i = first; i < end; ++i) panels.push_back({.first = i * use.inputs + j});
        }
      }
    }
    // What is left of the inputs, of several units.
    for (int j = whole; j < use.inputs; ++j) {
      for (int i = 0; i < use.units; i += kPanelRows) {
        panels.push_back({.first = i * use.inputs + j,
                          .step = use.inputs,
                          .count = std::min(kPanelRows, use.units - i)});
      }
    }
    for (RowPanel& panel : panels) {
      const int last = panel.first + (panel.count - 1) * panel.step;
      panel.last_unit = last / use.inputs;
      panel.last_input = last % use.inputs;
      const int first = use.theta[at(panel.first)];
      bool is_run = first >= 0;
      for (int r = 1; r < panel.count; ++r) {
        is_run = is_run && use.theta[at(panel.first + r * panel.step)] == first + r;
      }
      if (is_run) panel.run = first;
    }
    panels_.push_back(std::move(panels));
  }
}

std::vector<ProductTask> CurvatureProducts::tasks(int first_block, int end_block) const {
  std::vector<ProductTask> tasks;
  const auto& groups = planner_.groups();
  const auto& blocks = planner_.blocks();
  const int num_groups = static_cast<int>(groups.size());
  // Calls add(use, part, wave) for the rows of a group's columns.
  const auto for_rows = [&](int g, int column_place, auto add) {
    for (int h = 0; h < num_groups; ++h) {
      for (const int u : groups[at(h)].uses) {
        const int wave = groups[at(h)].has_repeats ? place_in_group_[at(u)] : 0;
        if (h > g) add(u, ProductPart::kBoth, wave);
        const bool is_done = !groups[at(g)].has_repeats && column_place >= 0 &&
                             place_in_group_[at(u)] < column_place;
        if (h == g && !is_done) add(u, ProductPart::kAdjoints, wave);
        if (h <= g && planner_.is_fed(u, g)) add(u, ProductPart::kTangents, kTangentWave + wave);
      }
    }
  };
  const int first_group = blocks[at(first_block)].group;
  for (int g = first_group; g <= blocks[at(end_block - 1)].group; ++g) {
    const UseGroup& group = groups[at(g)];
    if (group.is_by_parameters) {
      for (int b = first_block; b < end_block; ++b) {
        if (blocks[at(b)].group != g) continue;
        for_rows(g, -1, [&](int u, ProductPart part, int wave) {
          const ParameterUse& use = uses_.uses[at(u)];
          const int step = std::max(1, kTaskRows / std::max(use.units, use.inputs));
          for (int d = 0; d < blocks[at(b)].count; d += step) {
            const int end = std::min(d + step, blocks[at(b)].count);
            tasks.push_back({part,
                             wave,
                             u,
                             -1,
                             d,
                             b,
                             end,
                             0,
                             0,
                             2L * use.positions * use.units * use.inputs * (end - d)});
          }
        });
      }
      continue;
    }
    for (const int v : group.uses) {
      const ParameterUse& column = uses_.uses[at(v)];
      const int column_wave = group.has_repeats ? place_in_group_[at(v)] : 0;
      for (int a = 0; a < column.units; ++a) {
        const auto is_here = [&](int s) {
          const int direction = direction_of_entry_[at(column.z[at(s * column.units + a)])];
          return direction >= first_block * kDirections && direction < end_block * kDirections;
        };
        for (int s = 0; s < column.positions; ++s) {
          if (!is_here(s)) continue;
          const int first = s;
          while (s < column.positions && is_here(s)) ++s;
          for_rows(g, place_in_group_[at(v)], [&](int u, ProductPart part, int wave) {
            const auto count = static_cast<int>(panels_[at(u)].size());
            for (int p = 0; p < count; p += kTaskPanels) {
              const int end = std::min(p + kTaskPanels, count);
              tasks.push_back({part,
                               column_wave * kWaves + wave,
                               u,
                               v,
                               a,
                               first,
                               s,
                               p,
                               end,
                               long{end - p} * kPanelRows * (s - first) *
                                   (column.inputs + 2 * uses_.uses[at(u)].positions)});
            }
          });
        }
      }
    }
  }
  std::stable_sort(tasks.begin(), tasks.end(), [](const ProductTask& a, const ProductTask& b) {
    return a.wave < b.wave;
  });
  return tasks;
}

long CurvatureProducts::x_panels_size(int u, int num_packs) const {
  const ParameterUse& use = uses_.uses[at(u)];
  if (use.is_per_unit) return 0;
  return long{divide(use.inputs, kPanelCols)} * kPanelCols * use.positions * num_packs *
         kPackSamples;
}

long CurvatureProducts::delta_panels_size(int u, int num_packs) const {
  const ParameterUse& use = uses_.uses[at(u)];
  return long{divide(use.units, kPanelCols)} * kPanelCols * use.positions * num_packs *
         kPackSamples;
}

void CurvatureProducts::fill_panels(int u,
                                    const ChunkRows& rows,
                                    double* x_panels,
                                    double* delta_panels) const {
  const ParameterUse& use = uses_.uses[at(u)];
  const UseRows& own = layout_.rows(u);
  const long row = long{rows.num_packs} * kPackSamples;
  const auto fill = [&](double* panels, int columns, const double* base, const RowBlock& of) {
    std::array<const double*, kPanelCols> x;
    std::array<const double*, kPanelCols> ones;
    ones.fill(rows.ones);
    for (int c = 0; c < columns; c += kPanelCols) {
      for (int t = 0; t < use.positions; ++t) {
        for (int k = 0; k < kPanelCols; ++k) {
          x[at(k)] = c + k < columns ? base + of.row(t, c + k) * row : rows.zeros;
        }
        packs_.fill_columns(panels, x.data(), ones.data(), rows.num_packs);
        panels += kPanelCols * row;
      }
    }
  };
  if (!use.is_per_unit) fill(x_panels, use.inputs, rows.values, own.x);
  fill(delta_panels, use.units, rows.adjoints, own.z);
}

// Of scratch: rows of a task, a panel of columns, results.
long CurvatureProducts::scratch_size(int num_packs) {
  const long inner = most_inner_packs(num_packs) * kPackSamples;
  return (kTaskRows + kPanelCols) * inner + long{kTaskRows} * kPanelCols;
}

// One task.
class ProductRunner {
 public:
  ProductRunner(const CurvatureProducts& products,
                const ProductTask& task,
                const ChunkRows& rows,
                const TangentRows& tangents,
                double* scratch,
                HessianTarget h)
      : all_(products),
        task_(task),
        rows_(rows),
        tangents_(tangents),
        h_(h),
        use_(products.uses_.uses[at(task.row_use)]),
        own_(products.layout_.rows(task.row_use)),
        row_size_(long{rows.num_packs} * kPackSamples),
        row_panels_(scratch),
        column_panel_(row_panels_ + kTaskRows * most_inner_packs(rows.num_packs) * kPackSamples),
        results_(column_panel_ + kPanelCols * most_inner_packs(rows.num_packs) * kPackSamples) {}

  void run() {
    if (task_.column_use < 0) return run_by_parameters();
    for (int s = task_.first; s < task_.end; s += positions_at_once(rows_.num_packs)) {
      run_positions(s, std::min(s + positions_at_once(rows_.num_packs), task_.end));
    }
  }

 private:
  using RowPanel = CurvatureProducts::RowPanel;

  struct Column {
    int theta;
    int unit;  // of the row use, where it is the column's; -1 elsewhere
  };

  const double* value_row(int t, int k) const {
    return rows_.values + own_.x.row(t, k) * row_size_;
  }

  const double* delta_row(int t, int i) const {
    return rows_.adjoints + own_.z.row(t, i) * row_size_;
  }

  // Positions that are live in a direction, of E and of J.
  Interval adjoint_live(int direction) const {
    if (is_tangents()) return {};
    return tangents_
        .adjoint_live[long{task_.row_use} * tangents_.num_blocks + direction / kDirections];
  }

  Interval tangent_live(int direction) const {
    if (own_.tangents < 0 || task_.part == ProductPart::kAdjoints) return {};
    return tangents_
        .tangent_live[long{own_.tangents} * tangents_.num_blocks + direction / kDirections];
  }

  // E[t,i] and J[t,j], which must be live.
  const double* adjoint_tangent(int t, int i, int direction) const {
    return tangents_.adjoints +
           (long{own_.z.row(t, i)} * tangents_.num_directions + direction) * row_size_;
  }

  const double* value_tangent(int t, int j, int direction) const {
    const RowBlock& block = all_.layout_.tangent_blocks()[at(own_.tangents)];
    return tangents_.tangents +
           (long{block.row(t, j)} * tangents_.num_directions + direction) * row_size_;
  }

  // -------------------------------------------------------------------------------------------------
  // Columns from the entries of a use.

  void run_positions(int first, int end) {
    const ParameterUse& column = all_.uses_.uses[at(task_.column_use)];
    const UseRows& column_rows = all_.layout_.rows(task_.column_use);
    const bool is_own = task_.column_use == task_.row_use;
    const bool is_own_group =
        all_.group_of_use_[at(task_.column_use)] == all_.group_of_use_[at(task_.row_use)];
    const bool has_repeats = is_own_group && group().has_repeats;
    const bool is_free = is_own && all_.is_free_[at(task_.row_use)];
    const int inner = (end - first) * rows_.num_packs;
    const long panel_size = long{inner} * kPanelRows * kPackSamples;
    panels_.clear();
    for (int p = task_.first_panel; p < task_.end_panel; ++p) {
      const RowPanel& panel = all_.panels_[at(task_.row_use)][at(p)];
      if (is_own && !has_repeats && !is_tangents() && panel.last_unit < task_.unit) continue;
      panels_.push_back(&panel);
    }
    for (std::size_t p = 0; p < panels_.size();) {
      const int count = panels_together(p);
      for (int s = first; s < end; ++s) {
        const int z = column.z[at(s * column.units + task_.unit)];
        set_panels(
            *panels_[p],
            count,
            panel_size,
            all_.direction_of_entry_[at(z)] - tangents_.first_block * kDirections,
            row_panels_ + static_cast<long>(p) * panel_size + (s - first) * kPanelRows * row_size_);
      }
      p += at(count);
    }
    if (panels_.empty()) return;
    const double scale = use_.factor * column.factor;
    const auto num_panels = static_cast<int>(panels_.size());
    for (int b = 0; b < column.inputs; b += kPanelCols) {
      int skipped = 0;
      while (is_free && skipped < num_panels && panels_[at(skipped)]->last_input < b) ++skipped;
      if (skipped == num_panels) return;
      prefetch(column, b, skipped);
      const double* columns = column_panel_;
      if (column.is_per_unit) {
        fill_gain(column_rows, first, end);
      } else {
        columns = rows_.x_panels[at(task_.column_use)] +
                  (long{b} * column.positions + long{first} * kPanelCols) * row_size_;
      }
      all_.packs_.inner_products(results_,
                                 1,
                                 kTaskRows,
                                 row_panels_ + skipped * panel_size,
                                 num_panels - skipped,
                                 columns,
                                 std::min(kPanelCols, column.inputs - b),
                                 inner);
      for (int k = 0; k < std::min(kPanelCols, column.inputs - b); ++k) {
        const int theta = column.theta[at(task_.unit * column.inputs + b + k)];
        if (theta < 0) continue;
        const double* result = results_ + long{k} * kTaskRows;
        for (int p = skipped; p < num_panels; ++p, result += kPanelRows) {
          if (is_tangents()) {
            write_tangents(*panels_[at(p)], theta, result, scale);
          } else if (is_own || has_repeats) {
            write_own(*panels_[at(p)], {theta, is_own ? task_.unit : -1}, result, scale);
          } else {
            write(*panels_[at(p)], theta, result, scale);
          }
        }
      }
    }
  }

  // H is far larger than any cache.
  void prefetch(const ParameterUse& column, int b, int skipped) const {
    for (int k = b; k < std::min(b + kPanelCols, column.inputs); ++k) {
      const int col = column.theta[at(task_.unit * column.inputs + k)];
      if (col < 0) continue;
      const double* const to = h_.data + col * h_.stride;
      for (std::size_t p = at(skipped); p < panels_.size(); ++p) {
        if (panels_[p]->run > col) __builtin_prefetch(to + panels_[p]->run, 1, 2);
      }
    }
  }

  const UseGroup& group() const {
    return all_.planner_.groups()[at(all_.group_of_use_[at(task_.row_use)])];
  }

  // One column, x[s,a] for the unit at hand, and zeros.
  void fill_gain(const UseRows& column_rows, int first, int end) {
    std::array<const double*, kPanelCols> x;
    std::array<const double*, kPanelCols> ones;
    x.fill(rows_.zeros);
    ones.fill(rows_.ones);
    for (int s = first; s < end; ++s) {
      x[0] = rows_.values + column_rows.x.row(s, task_.unit) * row_size_;
      all_.packs_.fill_columns(column_panel_ + long{s - first} * kPanelCols * row_size_,
                               x.data(),
                               ones.data(),
                               rows_.num_packs);
    }
  }

  // How many panels from here on are of the same inputs and of one unit after the other.
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
  void set_panels(
      const RowPanel& panel, int count, long panel_size, int direction, double* to) const {
    const int unit = panel.first / use_.inputs;
    const int input = panel.first % use_.inputs;
    const Interval adjoints = adjoint_live(direction);
    const Interval tangents = tangent_live(direction);
    if (adjoints.is_empty() && tangents.is_empty()) {
      for (int k = 0; k < count; ++k) {
        std::fill_n(to + k * panel_size, kPanelRows * row_size_, 0.0);
      }
      return;
    }
    if (use_.is_per_unit) return set_gains(panel, adjoints, tangents, direction, to);
    const long z_step = row_size_ * use_.units;
    const long x_step = row_size_ * use_.inputs;
    const long width = tangents_.num_directions;
    const bool is_row = is_of_one_unit(panel);
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
          {adjoint_tangent(adjoints.begin, unit, direction), width * row_size_, width * z_step},
          {value_row(adjoints.begin, input), x_step, row_size_},
          adjoints.end - adjoints.begin};
    }
    if (!tangents.is_empty()) {
      product.terms[product.num_terms++] = {
          {delta_row(tangents.begin, unit), row_size_, z_step},
          {value_tangent(tangents.begin, input, direction), width * x_step, width * row_size_},
          tangents.end - tangents.begin};
    }
    all_.kernels_.multiply(product);
    if (!is_row) set_last_rows(panel, to);
  }

  // Rows that a panel of fewer parameters has too many.
  void set_last_rows(const RowPanel& panel, double* to) const {
    for (int p = 0; p < rows_.num_packs; ++p) {
      double* const rows = to + long{p} * kPanelRows * kPackSamples;
      std::fill(rows + panel.count * kPackSamples, rows + kPanelRows * kPackSamples, 0.0);
    }
  }

  // Of gains, sum_t E[t,i] x[t,i] + delta[t,i] J[t,i].
  void set_gains(const RowPanel& panel,
                 Interval adjoints,
                 Interval tangents,
                 int direction,
                 double* to) const {
    const long width = tangents_.num_directions;
    for (int r = 0; r < panel.count; ++r) {
      const int i = panel.first + r;
      RowProduct product{.out = to + r * kPackSamples,
                         .out_first_stride = 0,
                         .out_second_stride = 0,
                         .out_pack_stride = long{kPanelRows} * kPackSamples,

                         .terms = {},
                         .num_terms = 0,
                         .rows = 1,
                         .cols = 1,
                         .num_packs = rows_.num_packs};
      const long step = row_size_ * use_.units;
      if (!adjoints.is_empty()) {
        product.terms[product.num_terms++] = {
            {adjoint_tangent(adjoints.begin, i, direction), 0, width * step},
            {value_row(adjoints.begin, i), step, 0},
            adjoints.end - adjoints.begin};
      }
      if (!tangents.is_empty()) {
        product.terms[product.num_terms++] = {
            {delta_row(tangents.begin, i), 0, step},
            {value_tangent(tangents.begin, i, direction), width * step, 0},
            tangents.end - tangents.begin};
      }
      all_.kernels_.multiply(product);
    }
    set_last_rows(panel, to);
  }

  int theta(const RowPanel& panel, int r) const {
    return use_.theta[at(panel.first + r * panel.step)];
  }

  void add(int row, int col, double value) const {
    h_.data[std::max(row, col) + std::min(row, col) * h_.stride] += value;
  }

  bool is_tangents() const { return task_.part == ProductPart::kTangents; }

  // To the triangle where it lies: the other's part comes from elsewhere.
  void add_tangent(int row, int col, double value) const {
    h_.data[row + col * h_.stride] += row == col ? 2 * value : value;
  }

  void write_tangents(const RowPanel& panel, int col, const double* result, double scale) const {
    for (int r = 0; r < panel.count; ++r) {
      if (theta(panel, r) >= 0) add_tangent(theta(panel, r), col, scale * result[r]);
    }
  }

  // Parameters of different uses.
  void write(const RowPanel& panel, int col, const double* result, double scale) const {
    if (panel.run > col) {
      double* const to = h_.data + panel.run + col * h_.stride;
      for (int r = 0; r < panel.count; ++r) to[r] += scale * result[r];
      return;
    }
    for (int r = 0; r < panel.count; ++r) {
      if (theta(panel, r) >= 0) add(theta(panel, r), col, scale * result[r]);
    }
  }

  // Of one use, or of uses that share parameters: pairs that come twice are taken once.
  void write_own(const RowPanel& panel,
                 const Column& column,
                 const double* result,
                 double scale) const {
    if (column.unit >= 0 && panel.first / use_.inputs > column.unit && !group().has_repeats) {
      return write(panel, column.theta, result, scale);
    }
    for (int r = 0; r < panel.count; ++r) {
      const int row = theta(panel, r);
      if (row < 0) continue;
      const bool is_once = column.unit >= 0 && !group().has_repeats;
      const int unit = (panel.first + r * panel.step) / use_.inputs;
      const bool is_wanted =
          is_once ? unit > column.unit || (unit == column.unit && row >= column.theta)
                  : row >= column.theta;
      if (is_wanted) add(row, column.theta, scale * result[r]);
    }
  }

  // -------------------------------------------------------------------------------------------------
  // Columns that are directions.

  void run_by_parameters() {
    const int step = positions_at_once(rows_.num_packs);
    for (int t = 0; t < use_.positions; t += step) {
      const int end = std::min(t + step, use_.positions);
      if (!is_tangents()) run_directions(t, end, false);
      if (task_.part != ProductPart::kAdjoints) run_directions(t, end, true);
    }
  }

  struct DirectionRow {
    int direction;  // of the block
    int index;      // of the unit, or of the input
  };

  // E with x, or J with delta, at positions [first, end).
  void run_directions(int first_position, int end_position, bool is_slope) {
    if (is_slope && use_.is_per_unit) return run_gain_slopes(first_position, end_position);
    const int num_rows = is_slope ? use_.inputs : use_.units;
    const int num_cols = is_slope ? use_.units : use_.inputs;
    const int base = (task_.first - tangents_.first_block) * kDirections;
    const Interval live = is_slope ? tangent_live(base) : adjoint_live(base);
    const int first = std::max(live.begin, first_position);
    const int end = std::min(live.end, end_position);
    if (first >= end) return;
    const int inner = (end - first) * rows_.num_packs;
    const long panel_size = long{inner} * kPanelRows * kPackSamples;
    const auto tangent_at = [&](const DirectionRow& row, int t) {
      return is_slope ? value_tangent(t, row.index, base + row.direction)
                      : adjoint_tangent(t, row.index, base + row.direction);
    };
    std::vector<DirectionRow> list;
    for (int d = task_.unit; d < task_.end; ++d) {
      for (int i = 0; i < num_rows; ++i) list.push_back({d, i});
    }
    for (std::size_t begin = 0; begin < list.size(); begin += kTaskRows) {
      const std::size_t count = std::min<std::size_t>(kTaskRows, list.size() - begin);
      const std::span<const DirectionRow> part = std::span(list).subspan(begin, count);
      const auto num_panels = static_cast<int>(divide(static_cast<long>(count), kPanelRows));
      for (int p = 0; p < num_panels; ++p) {
        for (int t = first; t < end; ++t) {
          double* const to =
              row_panels_ + p * panel_size + long{t - first} * kPanelRows * row_size_;
          for (int r = 0; r < kPanelRows; ++r) {
            const std::size_t place = std::min(count - 1, at(p * kPanelRows + r));
            const double* const from = tangent_at(part[place], t);
            for (int k = 0; k < rows_.num_packs; ++k) {
              std::memcpy(to + (k * kPanelRows + r) * kPackSamples,
                          from + k * kPackSamples,
                          kPackSamples * sizeof(double));
            }
          }
        }
      }
      const bool is_gain = use_.is_per_unit;  // x[t,i]: one column for each unit
      for (int c = 0; c < (is_gain ? use_.units : num_cols); c += is_gain ? 1 : kPanelCols) {
        const double* columns = column_panel_;
        if (is_gain) {
          fill_unit(c, first, end);
        } else {
          double* const* const panels =
              is_slope ? rows_.delta_panels.data() : rows_.x_panels.data();
          columns = panels[task_.row_use] +
                    (long{c} * use_.positions + long{first} * kPanelCols) * row_size_;
        }
        all_.packs_.inner_products(results_,
                                   1,
                                   kTaskRows,
                                   row_panels_,
                                   num_panels,
                                   columns,
                                   is_gain ? 1 : std::min(kPanelCols, num_cols - c),
                                   inner);
        const int width = is_gain ? 1 : std::min(kPanelCols, num_cols - c);
        for (int k = 0; k < width; ++k) {
          for (std::size_t r = 0; r < count; ++r) {
            if (is_gain && part[r].index != c) continue;
            const int unit = is_slope ? c + k : part[r].index;
            const int input = is_gain ? 0 : is_slope ? part[r].index : c + k;
            write_direction(unit,
                            input,
                            part[r].direction,
                            results_[long{k} * kTaskRows + static_cast<long>(r)]);
          }
        }
      }
    }
  }

  void fill_unit(int unit, int first, int end) {
    std::array<const double*, kPanelCols> x;
    std::array<const double*, kPanelCols> ones;
    x.fill(rows_.zeros);
    ones.fill(rows_.ones);
    for (int t = first; t < end; ++t) {
      x[0] = value_row(t, unit);
      all_.packs_.fill_columns(column_panel_ + long{t - first} * kPanelCols * row_size_,
                               x.data(),
                               ones.data(),
                               rows_.num_packs);
    }
  }

  // delta[t,i] J[t,i] of gains: products of single rows.
  void run_gain_slopes(int first, int end) {
    const int base = (task_.first - tangents_.first_block) * kDirections;
    for (int d = task_.unit; d < task_.end; ++d) {
      for (int i = 0; i < use_.units; ++i) {
        double sum = 0;
        const Interval live = tangent_live(base + d);
        for (int t = std::max(first, live.begin); t < std::min(end, live.end); ++t) {
          const double* const j = value_tangent(t, i, base + d);
          const double* const delta = delta_row(t, i);
          for (long k = 0; k < row_size_; ++k) sum += j[k] * delta[k];
        }
        write_direction(i, 0, d, sum);
      }
    }
  }

  // dg[i,j] in a direction that is a parameter.
  void write_direction(int unit, int input, int direction, double value) const {
    const DirectionBlock& block = all_.planner_.blocks()[at(task_.first)];
    const UseGroup& columns = all_.planner_.groups()[at(block.group)];
    const int row = use_.theta[at(unit * use_.inputs + input)];
    const int col = columns.directions[at(block.first + direction)];
    if (row < 0) return;
    if (is_tangents()) return add_tangent(row, col, use_.factor * value);
    // Within a group each pair comes twice: by the one's row and by the other's.
    const bool is_own_group = all_.group_of_use_[at(task_.row_use)] == block.group;
    if (!is_own_group || row >= col) add(row, col, use_.factor * value);
  }

  const CurvatureProducts& all_;
  const ProductTask& task_;
  const ChunkRows& rows_;
  const TangentRows& tangents_;
  HessianTarget h_;
  const ParameterUse& use_;
  const UseRows& own_;
  long row_size_;
  double* row_panels_;
  double* column_panel_;
  double* results_;
  std::vector<const RowPanel*> panels_;
};

// Edge of the squares in which a matrix is transposed.
constexpr int kSquare = 32;

// Of a use at one position, ((i,j), (a,b)) is ((i,b), (a,j)): of the two the first was computed, b <= j.
void CurvatureProducts::complete(int u, int a, HessianTarget h) const {
  const ParameterUse& use = uses_.uses[at(u)];
  if (!is_free_[at(u)]) return;
  const auto entry = [&](int i, int j, int b) -> double* {
    const int row = use.theta[at(i * use.inputs + j)];
    const int col = use.theta[at(a * use.inputs + b)];
    if (row < 0 || col < 0) return nullptr;
    return h.data + std::max(row, col) + std::min(row, col) * h.stride;
  };
  for (int i = a + 1; i < use.units; ++i) {
    for (int first = 0; first < use.inputs; first += kSquare) {
      for (int j = first; j < use.inputs; ++j) {
        for (int b = first; b < std::min(first + kSquare, j); ++b) {
          const double* const from = entry(i, j, b);
          double* const to = entry(i, b, j);
          if (from != nullptr && to != nullptr) *to = *from;
        }
      }
    }
  }
}

void CurvatureProducts::run(const ProductTask& task,
                            const ChunkRows& rows,
                            const TangentRows& tangents,
                            double* scratch,
                            HessianTarget h) const {
  ProductRunner(*this, task, rows, tangents, scratch, h).run();
}

}  // namespace hesscope::detail
