// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/structured/internal/graph/direction_products.h>

namespace hesscope::detail {
namespace {

// The padded width of a line of sums: registers of any set are written completely.
int padded(int width) { return static_cast<int>(ceil_div(width, kPackSamples)) * kPackSamples; }

int x_width(const ParameterUse& use) { return use.is_per_unit ? 1 : padded(use.inputs); }

int z_width(const ParameterUse& use) { return use.is_per_unit ? 1 : padded(use.units); }

}  // namespace

DirectionProducts::DirectionProducts(const ParameterUses& uses,
                                     const EntryNumbers& entries,
                                     const GraphLayout& layout,
                                     const DirectionPlanner& planner,
                                     InstructionSet set)
    : uses_(uses),
      layout_(layout),
      planner_(planner),
      kernels_(tangent_kernels(set)),
      packs_(pack_kernels(set)) {
  const auto num_uses = static_cast<int>(uses.uses.size());
  for (int u = 0; u < num_uses; ++u) list_runs(u, entries);
  const auto& groups = planner.groups();
  find_ranks();
  for (int g = 0; g < static_cast<int>(groups.size()); ++g) {
    targets_.emplace_back();
    if (!groups[at(g)].is_by_parameters) continue;
    long size = 0;
    for (int u = 0; u < num_uses; ++u) {
      const ParameterUse& use = uses.uses[at(u)];
      const auto add = [&](ProductPart part) {
        const long of_adjoints = size;
        if (part != ProductPart::kTangents) size += long{use.units} * kDirections * x_width(use);
        const long of_tangents = size;
        const int lines = use.is_per_unit ? use.units : use.inputs;
        if (part != ProductPart::kAdjoints) size += long{lines} * kDirections * z_width(use);
        targets_.back().push_back({u, part, of_adjoints, of_tangents});
      };
      const int h = planner.group_of(u);
      if (h > g) add(planner.is_fed(u, g) ? ProductPart::kBoth : ProductPart::kAdjoints);
      if (h == g) add(ProductPart::kAdjoints);
      if (h <= g && planner.is_fed(u, g)) add(ProductPart::kTangents);
    }
    sums_size_ = std::max(sums_size_, size);
  }
}

void DirectionProducts::find_ranks() {
  const auto theta_end = [](int end, const ParameterUse& use) {
    return std::max(end, 1 + std::ranges::max(use.theta));
  };
  ranks_.resize(at(std::accumulate(uses_.uses.begin(), uses_.uses.end(), 0, theta_end)));
  for (const UseGroup& group : planner_.groups()) {
    if (!group.is_by_parameters) continue;
    for (std::size_t d = 0; d < group.directions.size(); ++d) {
      ranks_[at(group.directions[d])] = static_cast<int>(d);
    }
  }
  for (const ParameterUse& use : uses_.uses) {
    std::vector<int>& last = last_ranks_.emplace_back(at(use.units), -1);
    for (int k = 0; k < use.units * use.inputs; ++k) {
      if (use.theta[at(k)] < 0) continue;
      last[at(k / use.inputs)] = std::max(last[at(k / use.inputs)], ranks_[at(use.theta[at(k)])]);
    }
  }
}

// Appends it as a further position of the last run, if it lies where that run expects its next one.
void DirectionProducts::append(const Run& next, std::vector<Run>& runs) {
  if (!runs.empty() && runs.back().node == next.node &&
      runs.back().first + runs.back().positions == next.first) {
    Run& last = runs.back();
    const int step = next.tangent - last.tangent;
    const int other_step = next.other - last.other;
    if (last.positions == 1) {
      last.step = step;
      last.other_step = other_step;
    }
    if (step == last.positions * last.step && other_step == last.positions * last.other_step) {
      ++last.positions;
      return;
    }
  }
  runs.push_back(next);
}

void DirectionProducts::list_runs(int u, const EntryNumbers& entries) {
  const ParameterUse& use = uses_.uses[at(u)];
  const UseRows& rows = layout_.rows(u);
  const auto z_row = [&](int t, int i) { return layout_.z_rows()[at(rows.z.row(t, i))]; };
  const auto x_row = [&](int t, int k) { return layout_.value_rows()[at(rows.x.row(t, k))]; };
  RunsOfLines of_z(at(use.units));
  const int num_lines = use.is_per_unit ? use.units : use.inputs;
  RunsOfLines of_x(at(num_lines));
  for (int t = 0; t < use.positions; ++t) {
    const auto run = [&](const GraphLayout::Source& own, int other) -> Run {
      return {t, 1, entries.node_of(own.entry), own.tangent, 0, use.is_per_unit ? other : 0, 0};
    };
    for (int i = 0; i < use.units; ++i) {
      append(run(z_row(t, i), use.is_per_unit ? x_row(t, i).point : 0), of_z[at(i)]);
    }
    for (int k = 0; k < num_lines; ++k) {
      const GraphLayout::Source x = x_row(t, k);
      if (x.tangent >= 0) append(run(x, use.is_per_unit ? z_row(t, k).point : 0), of_x[at(k)]);
    }
  }
  z_runs_.push_back(std::move(of_z));
  x_runs_.push_back(std::move(of_x));
}

bool DirectionProducts::takes_z_panels(int u) const {
  if (uses_.uses[at(u)].is_per_unit || layout_.rows(u).tangents < 0) return false;
  return std::ranges::any_of(targets_, [&](const std::vector<Target>& targets) {
    return std::ranges::any_of(targets, [&](const Target& target) {
      return target.use == u && target.part != ProductPart::kAdjoints;
    });
  });
}

long DirectionProducts::z_panels_size(int u, int num_packs) const {
  return takes_z_panels(u) ? panels_size(layout_.rows(u).z, num_packs) : 0;
}

void DirectionProducts::fill_panels(int u, const ChunkRows& rows, double* z_panels) const {
  if (!takes_z_panels(u)) return;
  detail::fill_panels(packs_, layout_.rows(u).z, rows.adjoints, rows, z_panels);
}

void DirectionProducts::add_part(const DirectionBlock& block,
                                 const ChunkRows& rows,
                                 const PackSweep& sweep,
                                 double* sums) const {
  const long row = long{rows.num_packs} * kPackSamples;
  const long first_of_pack = long{sweep.part} * kernels_.lanes;
  const long first = sweep.pack * kPackSamples + first_of_pack;
  std::vector<DirectionTerm> terms;
  // For each line, a unit or an input. Contributions of E within a group occur twice: see write().
  const auto add = [&](const Target& target, bool is_adjoint) {
    const ParameterUse& use = uses_.uses[at(target.use)];
    const RunsOfLines& lines = is_adjoint ? z_runs_[at(target.use)] : x_runs_[at(target.use)];
    const double* const tangents = is_adjoint ? sweep.adjoint_tangents : sweep.tangents;
    const double* const numbers = is_adjoint ? sweep.point.values : sweep.point.adjoints;
    const int width = is_adjoint ? use.inputs : use.units;
    const int line_size = kDirections * (is_adjoint ? x_width(use) : z_width(use));
    double* out = sums + (is_adjoint ? target.of_adjoints : target.of_tangents);
    const double* const panels =
        is_adjoint ? rows.x_panels[at(target.use)] : rows.z_panels[at(target.use)];
    const bool is_half = is_adjoint && planner_.group_of(target.use) == block.group;
    for (std::size_t line = 0; line < lines.size(); ++line, out += line_size) {
      if (is_half && last_ranks_[at(target.use)][line] < block.first) continue;
      terms.clear();
      for (const Run& run : lines[line]) {
        const NodeSweep& node = block.plan[at(run.node)];
        if ((is_adjoint ? node.adjoint : node.tangent).is_empty()) continue;
        const double* const own = tangents + kernels_.entries_size(run.tangent);
        if (use.is_per_unit) {
          const double* const x = numbers + long{run.other} * kPackSamples + first_of_pack;
          kernels_.add_dots(
              {.out = out, .term = {own, run.step, x, run.positions}, .x_step = run.other_step});
        } else {
          terms.push_back(
              {own, run.step, panels + (first + run.first * row) * kPanelCols, run.positions});
        }
      }
      for (int c = 0; c < width && !terms.empty(); c += kPanelCols) {
        kernels_.add_sums({.out = out + c,
                           .out_stride = padded(width),
                           .terms = terms,
                           .first_panel = long{c} * use.positions * row,
                           .panel_step = kPanelCols * row,
                           .num_cols = std::min(kPanelCols, width - c)});
      }
    }
  };
  for (const Target& target : targets_[at(block.group)]) {
    if (target.part != ProductPart::kTangents) add(target, true);
    if (target.part != ProductPart::kAdjoints) add(target, false);
  }
}

void DirectionProducts::write(const DirectionBlock& block,
                              const double* sums,
                              HessianTarget h) const {
  const UseGroup& columns = planner_.groups()[at(block.group)];
  for (const Target& target : targets_[at(block.group)]) {
    const ParameterUse& use = uses_.uses[at(target.use)];
    const bool is_own_group = planner_.group_of(target.use) == block.group;
    const auto sum = [&](int i, int d, int j) {
      const auto place = [&](long first, int line, int width, int k) {
        return sums[first + (long{line} * kDirections + d) * width + k];
      };
      double total = 0;
      if (target.part != ProductPart::kTangents) {
        total += place(target.of_adjoints, i, x_width(use), j);
      }
      if (target.part != ProductPart::kAdjoints) {
        total += use.is_per_unit ? place(target.of_tangents, i, 1, 0)
                                 : place(target.of_tangents, j, z_width(use), i);
      }
      return total;
    };
    for (int d = 0; d < block.count; ++d) {
      const int col = columns.directions[at(block.first + d)];
      for (int i = 0; i < use.units; ++i) {
        for (int j = 0; j < use.inputs; ++j) {
          const int row = use.theta[at(i * use.inputs + j)];
          if (row < 0) continue;
          const double value = use.factor * sum(i, d, j);
          if (target.part == ProductPart::kTangents) {
            h.add_tangent(row, col, value);
          } else if (!is_own_group || ranks_[at(row)] >= block.first + d) {
            h.data[row + col * h.stride] += value;
          }
        }
      }
    }
  }
}

}  // namespace hesscope::detail
