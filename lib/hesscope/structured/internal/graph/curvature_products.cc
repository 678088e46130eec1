// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/structured/internal/graph/curvature_products.h>
#include <hesscope/structured/internal/graph/product_task.h>

namespace hesscope::detail {
namespace {

// Inputs and units whose panels are contiguous: lines of H, and a task.
constexpr int kJoinedInputs = 12;
constexpr int kJoinedUnits = kTaskPanels * kPanelRows / kJoinedInputs;

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
