// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/structured/internal/graph/curvature_products.h>
#include <hesscope/structured/internal/graph/indexing.h>
#include <hesscope/structured/internal/graph/product_task.h>

namespace hesscope::detail {
namespace {

// A wave's number is composed of a run of positions, which counts most, a column, and rows, where J
// parts that go to either triangle come after others.
constexpr long kWaves = 1L << 15;
constexpr long kTangentWave = kWaves / 2;
constexpr long kColumnWaves = 1L << 17;
// Inputs and units whose panels are contiguous: lines of H, and a task.
constexpr int kJoinedInputs = 12;
constexpr int kJoinedUnits = kTaskPanels * kPanelRows / kJoinedInputs;
// Units of a narrow task.
constexpr int kNarrowUnits = 16;

// Rows of a task, out of so many in total: enough tasks for many threads, each with enough rows
// that loading columns does not dominate.
int rows_of_pair_task(int all) {
  constexpr int kTasks = 32;
  constexpr int kFewestRows = 32;
  constexpr int kTogether = 2 * kPanelRows;
  const int most = std::clamp(all / kTasks, kFewestRows, kTaskRows);
  const auto equal = static_cast<int>(ceil_div(all, ceil_div(all, most)));
  return static_cast<int>(ceil_div(equal, kTogether)) * kTogether;
}

// Visits the interval in parts of `step`.
template <typename F>
void for_parts(Interval all, int step, F visit) {
  for (int first = all.begin; first < all.end; first += step) {
    visit(Interval{first, std::min(first + step, all.end)});
  }
}

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
      place_in_group_(uses.uses.size()),
      direction_of_entry_(at(uses.num_entries), -1) {
  const auto& groups = planner.groups();
  for (const UseGroup& group : groups) {
    for (std::size_t k = 0; k < group.uses.size(); ++k) {
      place_in_group_[at(group.uses[k])] = static_cast<int>(k);
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
  list_runs();
  for (int u = 0; u < static_cast<int>(uses.uses.size()); ++u) {
    const ParameterUse& use = uses.uses[at(u)];
    const UseGroup& group = groups[at(planner.group_of(u))];
    is_free_.push_back(
        use.inputs > 1 && !group.is_by_parameters &&
        is_symmetric_in_inputs(use, group, planner_.is_fed(u, planner_.group_of(u))));
  }
  pairs_.emplace(uses, is_free_);
  const auto num_uses = static_cast<int>(uses.uses.size());
  for (int u = 0; u < num_uses; ++u) {
    for (int v = 0; v < num_uses; ++v) is_narrow_.push_back(find_narrow(u, v));
  }
}

void CurvatureProducts::list_panels() {
  for (const ParameterUse& use : uses_.uses) {
    std::vector<RowPanel> panels;
    const int whole = use.inputs / kPanelRows * kPanelRows;
    const auto add = [&](int first, int line) {
      const int end = std::min(first + kJoinedUnits, use.units);
      for (int j = line; j < std::min(line + kJoinedInputs, whole); j += kPanelRows) {
        for (int i = first; i < end; ++i) panels.push_back({.first = i * use.inputs + j});
      }
    };
    // The tangents of units or inputs, whichever are fewer, are read again for each of the others,
    // and may stay in a cache.
    const auto parts = static_cast<int>(ceil_div(use.units, kJoinedUnits));
    const auto lines = static_cast<int>(ceil_div(whole, kJoinedInputs));
    const bool is_by_line = use.units <= use.inputs;
    for (int k = 0; k < parts * lines; ++k) {
      const int part = is_by_line ? k % parts : k / lines;
      const int line = is_by_line ? k / parts : k % lines;
      add(part * kJoinedUnits, line * kJoinedInputs);
    }
    // The remaining inputs, for several units.
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

void CurvatureProducts::list_runs() {
  for (const ParameterUse& use : uses_.uses) {
    std::vector<int> runs(use.theta.size(), 1);
    for (int k = static_cast<int>(use.theta.size()) - 1; k-- > 0;) {
      const bool is_last = (k + 1) % use.inputs == 0;
      const int theta = use.theta[at(k)];
      if (!is_last && theta >= 0 && use.theta[at(k + 1)] == theta + 1)
        runs[at(k)] += runs[at(k + 1)];
    }
    runs_.push_back(std::move(runs));
  }
}

// Whether columns made of its own inputs cost less per parameter of the rows. Measured in registers
// of kPackSamples on every processor, since ranks divide tasks. Making an entry of a row, from one
// term or two, counts as kMade multiply-adds.
bool CurvatureProducts::find_narrow(int row_use, int column_use) const {
  constexpr double kMade = 2;
  const ParameterUse& row = uses_.uses[at(row_use)];
  const ParameterUse& column = uses_.uses[at(column_use)];
  const int group = planner_.group_of(column_use);
  if (!row.is_single_product() || !column.is_single_product()) return false;
  if (planner_.group_of(row_use) <= group) return false;
  double num_blocks = 0;
  double live = 0;  // for J
  for (const DirectionBlock& block : planner_.blocks()) {
    if (block.group != group) continue;
    ++num_blocks;
    for (const int x : row.x) live += x != kUnitInput && planner_.is_in(block, x, false) ? 1 : 0;
  }
  const double terms = 1 + live / (num_blocks * row.inputs);
  const auto registers = [](int inputs) {
    return static_cast<double>(ceil_div(inputs, kPackSamples) * kPackSamples);
  };
  const double narrow =
      column.inputs * (kMade * terms + registers(row.inputs) + (terms - 1) * row.inputs);
  return narrow < row.inputs * (kMade * terms + registers(column.inputs));
}

// Scratch: rows of a task, a panel of columns, results.
long CurvatureProducts::scratch_size(int num_packs) {
  const long inner = most_inner_packs(num_packs) * kPackSamples;
  return (kTaskRows + kPanelCols) * inner + long{kTaskRows} * kPanelCols;
}

// Adds the tasks into which a product is divided.
void CurvatureProducts::add_tasks(ProductTask task, std::vector<ProductTask>& tasks) const {
  const ParameterUse& row = uses_.uses[at(task.row_use)];
  const auto add = [&](Interval rows, Interval inputs, int parameters) {
    task.rows = rows;
    task.inputs = inputs;
    task.multiply_adds = long{rows.end - rows.begin} * parameters * (task.end - task.first) *
                         (inputs.end - inputs.begin + 2 * row.positions);
    tasks.push_back(task);
  };
  const Interval all_inputs = task.inputs;
  if (task.part == ProductPart::kBoth && is_narrow(task.row_use, task.column_use)) {
    task.kind = ProductKind::kNarrow;
    const int units = std::min(row.units, kNarrowUnits);
    const int most_inputs = kTaskPanels / static_cast<int>(ceil_div(units, kPanelRows));
    for_parts({0, row.units}, units, [&](Interval rows) {
      for_parts(all_inputs, most_inputs, [&](Interval inputs) { add(rows, inputs, row.inputs); });
    });
  } else {
    task.kind = ProductKind::kRows;
    for_parts({0, static_cast<int>(panels_[at(task.row_use)].size())},
              kTaskPanels,
              [&](Interval rows) { add(rows, all_inputs, kPanelRows); });
  }
}

// For a use that is_paired() and is both row and column.
void CurvatureProducts::add_pair_tasks(int u,
                                       int first_block,
                                       int end_block,
                                       std::vector<ProductTask>& tasks) const {
  const ParameterUse& use = uses_.uses[at(u)];
  const auto is_here = [&](int a) { return is_direction_of(use.z[at(a)], first_block, end_block); };
  for (int first = 0; first < use.units; ++first) {
    int rows = 0;
    int end = first;
    for (; end < use.units && is_here(end); ++end) rows += use.units - end;
    ProductTask all{.kind = ProductKind::kPairs,
                    .part = ProductPart::kAdjoints,
                    .row_use = u,
                    .column_use = u,
                    .unit = first,
                    .first = 0,
                    .end = 1,
                    .rows = {first, first + rows},
                    .inputs = {0, use.inputs}};
    int left = 0;  // rows of the last task
    for_unit_pairs(all, use.units, [&](int i, int a) {
      if (left == 0) {
        left = std::min(rows, rows_of_pair_task(all.rows.end - all.rows.begin));
        ProductTask& task = tasks.emplace_back(all);
        task.unit = a;
        task.rows = {i, i + left};
        task.multiply_adds = left * std::ssize(pairs_->of(u));
      }
      --left;
      --rows;
    });
    first = end;
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
        const long wave = groups[at(h)].has_repeats ? place_in_group_[at(u)] : 0;
        if (h > g) add(u, ProductPart::kBoth, wave);
        const bool is_done = !groups[at(g)].has_repeats && place_in_group_[at(u)] < column_place;
        const bool is_of_pairs = place_in_group_[at(u)] == column_place && is_paired(u);
        if (h == g && !is_done && !is_of_pairs) add(u, ProductPart::kAdjoints, wave);
        if (h <= g && planner_.is_fed(u, g)) add(u, ProductPart::kTangents, kTangentWave + wave);
      }
    }
  };
  const int first_group = blocks[at(first_block)].group;
  for (int g = first_group; g <= blocks[at(end_block - 1)].group; ++g) {
    const UseGroup& group = groups[at(g)];
    for (const int v : group.uses) {
      const ParameterUse& column = uses_.uses[at(v)];
      const long column_wave = group.has_repeats ? place_in_group_[at(v)] : 0;
      if (is_paired(v)) add_pair_tasks(v, first_block, end_block, tasks);
      for (int a = 0; a < column.units; ++a) {
        const auto is_here = [&](int s) {
          return is_direction_of(column.z[at(s * column.units + a)], first_block, end_block);
        };
        long run = 0;  // index among the unit's runs, which all add to the same entries
        for (int s = 0; s < column.positions; ++s) {
          if (!is_here(s)) continue;
          const int first = s;
          while (s < column.positions && is_here(s)) ++s;
          const long first_wave = (run++ * kColumnWaves + column_wave) * kWaves;
          for_rows(g, place_in_group_[at(v)], [&](int u, ProductPart part, long wave) {
            add_tasks({.part = part,
                       .wave = first_wave + wave,
                       .row_use = u,
                       .column_use = v,
                       .unit = a,
                       .first = first,
                       .end = s,
                       .inputs = {0, column.inputs}},
                      tasks);
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

std::vector<CurvatureProducts::UnitRows> CurvatureProducts::units_of(
    const ProductTask& task) const {
  if (task.kind != ProductKind::kPairs) return {{task.unit, task.rows.end - task.rows.begin}};
  std::vector<UnitRows> units;
  for_unit_pairs(task, uses_.uses[at(task.row_use)].units, [&](int /*i*/, int a) {
    if (units.empty() || units.back().unit != a) units.push_back({a, 0});
    ++units.back().num_rows;
  });
  return units;
}

std::vector<CurvatureProducts::UnitColumns> CurvatureProducts::own_columns_of(
    const ProductTask& task) const {
  const ParameterUse& column = uses_.uses[at(task.column_use)];
  const double num_rows = task.rows.end - task.rows.begin;
  std::vector<UnitColumns> all;
  for (const auto& [unit, num_own] : units_of(task)) {
    UnitColumns& own = all.emplace_back();
    own.multiply_adds = static_cast<double>(task.multiply_adds) * (num_own / num_rows);
    for (int b = 0; b < column.inputs; ++b) {
      const int theta = column.theta[at(unit * column.inputs + b)];
      if (theta >= 0) own.columns.push_back(theta);
    }
  }
  return all;
}

std::vector<int> CurvatureProducts::columns_of(const ProductTask& task) const {
  const ParameterUse& row = uses_.uses[at(task.row_use)];
  std::vector<int> columns;
  for (const UnitColumns& own : own_columns_of(task)) {
    columns.insert(columns.end(), own.columns.begin(), own.columns.end());
  }
  const int group = planner_.group_of(task.column_use);
  const bool has_repeats =
      group == planner_.group_of(task.row_use) && planner_.groups()[at(group)].has_repeats;
  if (columns.empty() || task.part == ProductPart::kTangents || has_repeats) return columns;
  // If a row is to the left of a column, the entry is that of the transposed pair.
  const int last = *std::max_element(columns.begin(), columns.end());
  const bool is_own = task.column_use == task.row_use;
  const auto add = [&](int place) {
    if (is_own && place / row.inputs <= task.unit) return;
    const int theta = row.theta[at(place)];
    if (theta >= 0 && theta < last) columns.push_back(theta);
  };
  const auto add_unit = [&](int i, int /*a*/) {
    for (int j = 0; j < row.inputs; ++j) add(i * row.inputs + j);
  };
  if (task.kind == ProductKind::kPairs) {
    for_unit_pairs(task, row.units, add_unit);
    return columns;
  }
  for (int k = task.rows.begin; k < task.rows.end; ++k) {
    if (task.kind == ProductKind::kNarrow) {
      add_unit(k, task.unit);
    } else {
      const RowPanel& panel = panels_[at(task.row_use)][at(k)];
      for (int r = 0; r < panel.count; ++r) add(panel.first + r * panel.step);
    }
  }
  return columns;
}

long CurvatureProducts::x_panels_size(int u, int num_packs) const {
  if (uses_.uses[at(u)].is_per_unit) return 0;
  return panels_size(layout_.rows(u).x, num_packs) + pairs_->panels_size(u, num_packs);
}

void CurvatureProducts::fill_panels(int u, const ChunkRows& rows, double* x_panels) const {
  if (uses_.uses[at(u)].is_per_unit) return;
  detail::fill_panels(packs_, layout_.rows(u).x, rows.values, rows, x_panels);
}

int CurvatureProducts::num_pair_panels(int u) const { return pairs_->num_panels(u); }

void CurvatureProducts::fill_pair_panel(int u,
                                        int panel,
                                        const ChunkRows& rows,
                                        double* x_panels) const {
  const RowBlock& x = layout_.rows(u).x;
  pairs_->fill_panel(packs_, u, panel, x, rows, x_panels + panels_size(x, rows.num_packs));
}

// Edge of the squares in which a matrix is transposed.
constexpr int kSquare = 32;

// For a use at one position, entry ((i,j), (a,b)) equals ((i,b), (a,j)); only the one with b <= j
// was computed.
void CurvatureProducts::complete(int u, int a, HessianTarget h) const {
  const ParameterUse& use = uses_.uses[at(u)];
  if (!is_free_[at(u)]) return;
  const auto entry = [&](int i, int j, int b) -> double* {
    const int row = use.theta[at(i * use.inputs + j)];
    const int col = use.theta[at(a * use.inputs + b)];
    if (row < 0 || col < 0) return nullptr;
    return &h.of_pair(row, col);
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
                            const KeptTangents& tangents,
                            double* scratch,
                            HessianTarget h) const {
  const ProductTaskView view(*this, task, rows, tangents, scratch, h);
  switch (task.kind) {
    case ProductKind::kRows:
      return run_product(view);
    case ProductKind::kNarrow:
      return run_narrow_product(view);
    case ProductKind::kPairs:
      return run_pair_product(view);
  }
}

}  // namespace hesscope::detail
