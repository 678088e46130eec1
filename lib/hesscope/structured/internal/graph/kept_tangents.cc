// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/simd/internal/pack_kernels.h>
#include <hesscope/structured/internal/graph/kept_tangents.h>

namespace hesscope::detail {
namespace {

// is_there(r) tells whether row r of the layout has tangents.
template <typename F>
LiveRows live_rows(const RowBlock& rows, bool has_all_cols, F is_there) {
  Interval positions{rows.positions, 0};
  Interval cols{rows.width, 0};
  long count = 0;
  for (int t = 0; t < rows.positions; ++t) {
    for (int k = 0; k < rows.width; ++k) {
      if (!is_there(rows.row(t, k))) continue;
      ++count;
      positions = {std::min(positions.begin, t), t + 1};
      cols = {std::min(cols.begin, k), std::max(cols.end, k + 1)};
    }
  }
  if (count == 0) return {};
  if (has_all_cols) cols = {0, rows.width};
  cols.begin = cols.begin / kPanelRows * kPanelRows;
  cols.end = std::min(static_cast<int>(ceil_div(cols.end, kPanelRows)) * kPanelRows, rows.width);
  LiveRows live{.positions = positions, .cols = cols};
  live.is_complete = count == long{live.length()} * live.width();
  return live;
}

}  // namespace

KeptSteps kept_steps(const KeptRows& rows, int num_packs) {
  constexpr int kFewPacks = 16;
  const long direction = rows.count * row_step(num_packs);
  if (num_packs <= kFewPacks) return {kPackSamples, long{rows.count} * kPackSamples, direction};
  return {row_step(num_packs), kPackSamples, direction};
}

std::vector<KeptRows> kept_rows(const ParameterUses& uses,
                                const GraphLayout& layout,
                                const DirectionPlanner& planner) {
  std::vector<KeptRows> all;
  for (const DirectionBlock& block : planner.blocks()) {
    KeptRows& kept = all.emplace_back();
    if (planner.groups()[at(block.group)].is_by_parameters) continue;
    const auto add = [&](std::vector<LiveRows>& rows, LiveRows live) {
      live.first = kept.count;
      kept.count += live.length() * live.width();
      rows.push_back(live);
    };
    const auto is_there = [&](std::span<const GraphLayout::Source> sources, bool is_adjoint) {
      return [&planner, &block, sources, is_adjoint](int r) {
        const GraphLayout::Source& source = sources[at(r)];
        return source.tangent >= 0 && planner.is_in(block, source.entry, is_adjoint);
      };
    };
    for (int u = 0; u < static_cast<int>(uses.uses.size()); ++u) {
      // For rows before the columns, E equals that of columns before the rows.
      const bool is_read = planner.group_of(u) >= block.group;
      add(kept.adjoints,
          is_read ? live_rows(layout.rows(u).z, true, is_there(layout.z_rows(), true))
                  : LiveRows{});
    }
    for (const RowBlock& x : layout.tangent_blocks()) {
      add(kept.tangents, live_rows(x, false, is_there(layout.tangent_rows(), false)));
    }
    if (kept.count > 0) kept.count |= 1;  // see row_step()
  }
  return all;
}

}  // namespace hesscope::detail
