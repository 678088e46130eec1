// SPDX-License-Identifier: BSD-3-Clause
//
// How products are divided into tasks, and what a task reads and writes.
#include <algorithm>
#include <iterator>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/structured/internal/graph/curvature_products.h>
#include <hesscope/structured/internal/graph/product_task.h>

namespace hesscope::detail {
namespace {

// A wave's number is composed of a run of positions, which counts most, a column, and rows, where J
// parts that go to either triangle come after others.
constexpr long kWaves = 1L << 15;
constexpr long kTangentWave = kWaves / 2;
constexpr long kColumnWaves = 1L << 17;
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

}  // namespace hesscope::detail
