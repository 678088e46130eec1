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
  find_fed();
  for (int u = 0; u < static_cast<int>(uses.uses.size()); ++u) {
    const ParameterUse& use = uses.uses[at(u)];
    const UseGroup& group = groups[at(group_of_use_[at(u)])];
    is_free_.push_back(use.positions == 1 && !use.is_per_unit && use.inputs > 1 &&
                       !group.has_repeats && !group.is_by_parameters &&
                       !is_fed(u, group_of_use_[at(u)]));
  }
}

void CurvatureProducts::find_fed() {
  const std::size_t num_groups = planner_.groups().size();
  is_fed_.assign(uses_.uses.size() * num_groups, 0);
  for (const DirectionBlock& block : planner_.blocks()) {
    for (std::size_t u = 0; u < uses_.uses.size(); ++u) {
      char& is_fed = is_fed_[u * num_groups + at(block.group)];
      if (is_fed) continue;
      const auto& x = uses_.uses[u].x;
      is_fed = std::any_of(x.begin(), x.end(), [&](int entry) {
        return entry != kOne && planner_.is_in(block, entry, false);
      });
    }
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
        if (h <= g && is_fed(u, g)) add(u, ProductPart::kTangents, kTangentWave + wave);
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
  const auto fill =
      [&](double* panels, int columns, const double* base, const std::vector<int>& of) {
        std::array<const double*, kPanelCols> x;
        std::array<const double*, kPanelCols> ones;
        ones.fill(rows.values);
        for (int c = 0; c < columns; c += kPanelCols) {
          for (int t = 0; t < use.positions; ++t) {
            for (int k = 0; k < kPanelCols; ++k) {
              x[at(k)] = c + k < columns ? base + of[at(t * columns + c + k)] * row : rows.zeros;
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

  const double* value_row(int row) const { return rows_.values + row * row_size_; }

  const double* adjoint_row(int row) const { return rows_.adjoints + row * row_size_; }

  const double* tangent_of(const double* all, int row, int direction) const {
    return all + (long{row} * tangents_.num_directions + direction) * row_size_;
  }

  // E of z row `row`, or zeros.
  const double* adjoint_tangent(int row, int direction) const {
    const int block = direction / kDirections;
    const bool is_there = tangents_.has_adjoint[long{row} * tangents_.num_blocks + block] != 0;
    return is_there ? tangent_of(tangents_.adjoints, row, direction) : nullptr;
  }

  const double* value_tangent(int row, int direction) const {
    if (row < 0) return nullptr;
    const int block = direction / kDirections;
    const bool is_there = tangents_.has_tangent[long{row} * tangents_.num_blocks + block] != 0;
    return is_there ? tangent_of(tangents_.tangents, row, direction) : nullptr;
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
      double* to = row_panels_ + static_cast<long>(panels_.size()) * panel_size;
      for (int s = first; s < end; ++s) {
        const int z = column.z[at(s * column.units + task_.unit)];
        combine(panel,
                all_.direction_of_entry_[at(z)] - tangents_.first_block * kDirections,
                to + long{s - first} * rows_.num_packs * kPanelRows * kPackSamples);
      }
      panels_.push_back(&panel);
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
        fill_gain(column_rows, column, first, end);
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
  void fill_gain(const UseRows& column_rows, const ParameterUse& column, int first, int end) {
    std::array<const double*, kPanelCols> x;
    std::array<const double*, kPanelCols> ones;
    x.fill(rows_.zeros);
    ones.fill(rows_.values);
    for (int s = first; s < end; ++s) {
      x[0] = value_row(column_rows.x[at(s * column.units + task_.unit)]);
      all_.packs_.fill_columns(column_panel_ + long{s - first} * kPanelCols * row_size_,
                               x.data(),
                               ones.data(),
                               rows_.num_packs);
    }
  }

  // dg/dd of a panel's parameters.
  void combine(const RowPanel& panel, int direction, double* to) {
    left_.clear();
    right_.clear();
    const bool is_shared = panel.step == 1 && use_.inputs >= kPanelRows;
    const int num_units = is_shared ? 1 : kPanelRows;
    // Of each row its terms; all rows have as many, zeros if need be.
    std::array<int, kPanelRows> unit;
    std::array<int, kPanelRows> input;
    for (int r = 0; r < kPanelRows; ++r) {
      const int parameter = panel.first + std::min(r, panel.count - 1) * panel.step;
      unit[at(r)] = parameter / use_.inputs;
      input[at(r)] = parameter % use_.inputs;
    }
    const auto x_place = [&](int t, int r) {
      return at(use_.is_per_unit ? t * use_.units + unit[at(r)] : t * use_.inputs + input[at(r)]);
    };
    terms_.clear();
    for (int t = 0; t < use_.positions; ++t) {
      bool has_adjoint = false;
      bool has_tangent = false;
      Term e{};
      Term j{};
      for (int r = 0; r < kPanelRows; ++r) {
        const int z = own_.z[at(t * use_.units + unit[at(r)])];
        const double* const of_z = adjoint_tangent(z, direction);
        const double* const of_x = value_tangent(own_.tangent[x_place(t, r)], direction);
        has_adjoint = has_adjoint || of_z != nullptr;
        has_tangent = has_tangent || of_x != nullptr;
        e.a[at(r)] = of_z != nullptr ? of_z : rows_.zeros;
        e.b[at(r)] = value_row(own_.x[x_place(t, r)]);
        j.a[at(r)] = adjoint_row(z);
        j.b[at(r)] = of_x != nullptr ? of_x : rows_.zeros;
      }
      if (has_adjoint && task_.part != ProductPart::kTangents) terms_.push_back(e);
      if (has_tangent && task_.part != ProductPart::kAdjoints) terms_.push_back(j);
    }
    if (terms_.empty()) {
      std::memset(to, 0, sizeof(double) * static_cast<std::size_t>(kPanelRows * row_size_));
      return;
    }
    for (int r = 0; r < num_units; ++r) {
      for (const Term& term : terms_) left_.push_back(term.a[at(r)]);
    }
    for (int r = 0; r < kPanelRows; ++r) {
      for (const Term& term : terms_) right_.push_back(term.b[at(r)]);
    }
    all_.kernels_.combine(to,
                          left_.data(),
                          right_.data(),
                          is_shared,
                          static_cast<int>(terms_.size()),
                          rows_.num_packs);
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
  void run_directions(int first, int end, bool is_slope) {
    if (is_slope && use_.is_per_unit) return run_gain_slopes(first, end);
    const int num_rows = is_slope ? use_.inputs : use_.units;
    const int num_cols = is_slope ? use_.units : use_.inputs;
    const int inner = (end - first) * rows_.num_packs;
    const long panel_size = long{inner} * kPanelRows * kPackSamples;
    const int base = (task_.first - tangents_.first_block) * kDirections;
    const auto tangent_at = [&](const DirectionRow& row, int t) {
      return is_slope
                 ? value_tangent(own_.tangent[at(t * use_.inputs + row.index)],
                                 base + row.direction)
                 : adjoint_tangent(own_.z[at(t * use_.units + row.index)], base + row.direction);
    };
    std::vector<DirectionRow> list;
    for (int d = task_.unit; d < task_.end; ++d) {
      for (int i = 0; i < num_rows; ++i) {
        bool is_there = false;
        for (int t = first; t < end && !is_there; ++t) is_there = tangent_at({d, i}, t) != nullptr;
        if (is_there) list.push_back({d, i});
      }
    }
    for (std::size_t begin = 0; begin < list.size(); begin += kTaskRows) {
      const std::size_t count = std::min<std::size_t>(kTaskRows, list.size() - begin);
      const std::span<const DirectionRow> part = std::span(list).subspan(begin, count);
      const auto num_panels = static_cast<int>(divide(static_cast<long>(count), kPanelRows));
      for (int p = 0; p < num_panels; ++p) {
        for (int t = first; t < end; ++t) {
          std::array<const double*, kPanelRows> a;
          std::array<const double*, kPanelRows> ones;
          ones.fill(rows_.values);
          for (int r = 0; r < kPanelRows; ++r) {
            const std::size_t place = std::min(count - 1, at(p * kPanelRows + r));
            const double* const tangent = tangent_at(part[place], t);
            a[at(r)] = tangent != nullptr ? tangent : rows_.zeros;
          }
          all_.kernels_.combine(
              row_panels_ + p * panel_size + long{t - first} * kPanelRows * row_size_,
              a.data(),
              ones.data(),
              false,
              1,
              rows_.num_packs);
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
    ones.fill(rows_.values);
    for (int t = first; t < end; ++t) {
      x[0] = value_row(own_.x[at(t * use_.units + unit)]);
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
        for (int t = first; t < end; ++t) {
          const double* const j = value_tangent(own_.tangent[at(t * use_.units + i)], base + d);
          if (j == nullptr) continue;
          const double* const delta = adjoint_row(own_.z[at(t * use_.units + i)]);
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

  // Of one position: pointers to rows.
  struct Term {
    std::array<const double*, kPanelRows> a;
    std::array<const double*, kPanelRows> b;
  };

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
  std::vector<Term> terms_;
  std::vector<const double*> left_;
  std::vector<const double*> right_;
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
