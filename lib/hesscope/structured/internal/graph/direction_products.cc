// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>

#include <hesscope/structured/internal/graph/direction_products.h>
#include <hesscope/structured/internal/graph/indexing.h>

namespace hesscope::detail {
namespace {

constexpr long kPackDoubles = kPackSamples;
constexpr long kEntryDoubles = long{kDirections} * kPackSamples;

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
      runs_(uses.uses.size()) {
  ones_.fill(1.0);
  find_runs(entries);
  const auto& groups = planner.groups();
  for (int g = 0; g < static_cast<int>(groups.size()); ++g) {
    targets_.emplace_back();
    if (!groups[at(g)].is_by_parameters) continue;
    long size = 0;
    for (int u = 0; u < static_cast<int>(uses.uses.size()); ++u) {
      const ParameterUse& use = uses.uses[at(u)];
      const auto add = [&](ProductPart part) {
        targets_.back().push_back({u, part, size});
        size += long{use.units} * kDirections * use.inputs;
      };
      const int h = planner.group_of(u);
      if (h > g) add(ProductPart::kBoth);
      if (h == g) add(ProductPart::kAdjoints);
      if (h <= g && planner.is_fed(u, g)) add(ProductPart::kTangents);
    }
    sums_size_ = std::max(sums_size_, size * kPackDoubles);
  }
}

// One position after the other: as many units and inputs as lie evenly.
void DirectionProducts::find_runs(const EntryNumbers& entries) {
  for (std::size_t u = 0; u < uses_.uses.size(); ++u) {
    const ParameterUse& use = uses_.uses[u];
    for (int t = 0; t < use.positions; ++t) {
      for (int unit = 0; unit < use.units;) {
        int num_units = 0;
        for (int input = 0; input < use.inputs;) {
          const Run run = run_at(use, entries, t, unit, input);
          append(run, runs_[u]);
          input += run.num_inputs;
          num_units = run.num_units;
        }
        unit += num_units;
      }
    }
  }
}

DirectionProducts::Run DirectionProducts::run_at(const ParameterUse& use,
                                                 const EntryNumbers& entries,
                                                 int t,
                                                 int first_unit,
                                                 int first_input) const {
  const auto nodes = layout_.nodes();
  // How many entries are of one node and at the steps of the first two, of at most `count`.
  const auto num_even = [&](auto entry, int count) {
    int k = 1;
    while (k < count && entry(k) != kOne && entry(0) != kOne &&
           entries.node_of(entry(k)) == entries.node_of(entry(0)) &&
           entry(k) - entry(0) == k * (entry(1) - entry(0))) {
      ++k;
    }
    return k;
  };
  const auto z = [&](int i) { return use.z[at(long{t} * use.units + first_unit + i)]; };
  Run run{.first_unit = first_unit,
          .num_units = num_even(z, use.units - first_unit),
          .z_node = entries.node_of(z(0)),
          .first_input = first_input};
  const auto x_of_unit = [&](int i) { return use.x_at(t, first_unit + i, 0); };
  if (use.is_per_unit) run.num_units = num_even(x_of_unit, run.num_units);
  const SweepNode& z_node = nodes[at(run.z_node)];
  run.z_adjoint = z_node.adjoint + z(0) - entries.first(run.z_node);
  run.z_tangent = z_node.tangent + z(0) - entries.first(run.z_node);
  run.z_unit_step = run.num_units > 1 ? z(1) - z(0) : 0;
  const int x = use.x_at(t, first_unit, first_input);
  if (x == kOne) return run;
  run.x_node = entries.node_of(x);
  run.x_value = layout_.value_of(entries, x);
  if (run.x_node >= 0 && nodes[at(run.x_node)].tangent >= 0) {
    run.x_tangent = nodes[at(run.x_node)].tangent + x - entries.first(run.x_node);
  }
  if (use.is_per_unit) {
    run.x_unit_step = run.num_units > 1 ? x_of_unit(1) - x : 0;
    return run;
  }
  const auto x_of_input = [&](int k) { return use.x_at(t, first_unit, first_input + k); };
  run.num_inputs = num_even(x_of_input, use.inputs - first_input);
  run.x_input_step = run.num_inputs > 1 ? x_of_input(1) - x : 0;
  return run;
}

// As one more position of a run of the same units and inputs, if it lies where that has its next.
void DirectionProducts::append(const Run& run, std::vector<Run>& runs) {
  const auto last = std::find_if(runs.rbegin(), runs.rend(), [&](const Run& earlier) {
    return earlier.first_unit == run.first_unit && earlier.first_input == run.first_input;
  });
  if (last != runs.rend()) {
    Run longer = *last;
    if (longer.positions == 1) {
      longer.z_step = run.z_adjoint - longer.z_adjoint;
      longer.x_step = run.x_value - longer.x_value;
    }
    Run next = longer;
    next.positions = run.positions;
    next.z_adjoint += longer.positions * longer.z_step;
    next.z_tangent += longer.positions * longer.z_step;
    next.x_value += longer.positions * longer.x_step;
    if (longer.x_tangent >= 0) next.x_tangent += longer.positions * longer.x_step;
    Run here = run;
    here.z_step = longer.z_step;
    here.x_step = longer.x_step;
    if (next == here) {
      ++longer.positions;
      *last = longer;
      return;
    }
  }
  runs.push_back(run);
}

// out(row, col) += sum over positions of a(row, t) b(t, col)
struct DirectionProducts::Product {
  double* out;
  long row_step;
  long col_step;
  RowMatrix a;
  RowMatrix b;
  int rows;
  int positions;
  int cols;
};

void DirectionProducts::add(const Product& product) const {
  kernels_.add({.out = product.out,
                .out_first_stride = product.row_step,
                .out_second_stride = product.col_step,
                .out_pack_stride = 0,
                .terms = {{product.a, product.b, product.positions}, {}},
                .num_terms = 1,
                .rows = product.rows,
                .cols = product.cols,
                .num_packs = 1});
}

// E x: for each unit, rows are directions.
void DirectionProducts::add_adjoints(const ParameterUse& use,
                                     const Run& run,
                                     PackPoint point,
                                     const double* tangents,
                                     double* sums) const {
  for (int i = 0; i < run.num_units; ++i) {
    const double* const x =
        run.x_value < 0 ? ones_.data()
                        : point.values + (run.x_value + long{i} * run.x_unit_step) * kPackDoubles;
    add({.out = sums + (long{run.first_unit + i} * kDirections * use.inputs + run.first_input) *
                           kPackDoubles,
         .row_step = use.inputs * kPackDoubles,
         .col_step = kPackDoubles,
         .a = {tangents + (run.z_tangent + long{i} * run.z_unit_step) * kEntryDoubles,
               kPackDoubles,
               run.z_step * kEntryDoubles},
         .b = {x, run.x_value < 0 ? 0 : run.x_step * kPackDoubles, run.x_input_step * kPackDoubles},
         .rows = kDirections,
         .positions = run.positions,
         .cols = run.num_inputs});
  }
}

// delta J: for each input, rows are directions and columns units; for each unit of a gain.
void DirectionProducts::add_tangents(const ParameterUse& use,
                                     const Run& run,
                                     PackPoint point,
                                     const double* tangents,
                                     double* sums) const {
  const int count = use.is_per_unit ? run.num_units : run.num_inputs;
  for (int k = 0; k < count; ++k) {
    const long unit = use.is_per_unit ? k : 0;
    const long input = use.is_per_unit ? 0 : k;
    add({.out =
             sums + ((run.first_unit + unit) * kDirections * use.inputs + run.first_input + input) *
                        kPackDoubles,
         .row_step = use.inputs * kPackDoubles,
         .col_step = long{kDirections} * use.inputs * kPackDoubles,
         .a = {tangents + (run.x_tangent + unit * run.x_unit_step + input * run.x_input_step) *
                              kEntryDoubles,
               kPackDoubles,
               run.x_step * kEntryDoubles},
         .b = {point.adjoints + (run.z_adjoint + unit * run.z_unit_step) * kPackDoubles,
               run.z_step * kPackDoubles,
               run.z_unit_step * kPackDoubles},
         .rows = kDirections,
         .positions = run.positions,
         .cols = use.is_per_unit ? 1 : run.num_units});
  }
}

void DirectionProducts::add_pack(const DirectionBlock& block,
                                 PackPoint point,
                                 const double* tangents,
                                 const double* adjoint_tangents,
                                 double* sums) const {
  for (const Target& target : targets_[at(block.group)]) {
    const ParameterUse& use = uses_.uses[at(target.use)];
    double* const own = sums + target.first * kPackDoubles;
    for (const Run& run : runs_[at(target.use)]) {
      if (target.part != ProductPart::kTangents && !block.plan[at(run.z_node)].adjoint.is_empty()) {
        add_adjoints(use, run, point, adjoint_tangents, own);
      }
      if (target.part != ProductPart::kAdjoints && run.x_tangent >= 0 &&
          !block.plan[at(run.x_node)].tangent.is_empty()) {
        add_tangents(use, run, point, tangents, own);
      }
    }
  }
}

void DirectionProducts::write(const DirectionBlock& block,
                              const double* sums,
                              HessianTarget h) const {
  const UseGroup& columns = planner_.groups()[at(block.group)];
  for (const Target& target : targets_[at(block.group)]) {
    const ParameterUse& use = uses_.uses[at(target.use)];
    const bool is_own_group = planner_.group_of(target.use) == block.group;
    const double* own = sums + target.first * kPackDoubles;
    for (int i = 0; i < use.units; ++i) {
      for (int d = 0; d < kDirections; ++d) {
        for (int j = 0; j < use.inputs; ++j, own += kPackDoubles) {
          const int row = use.theta[at(i * use.inputs + j)];
          if (d >= block.count || row < 0) continue;
          const int col = columns.directions[at(block.first + d)];
          const double value = use.factor * std::accumulate(own, own + kPackSamples, 0.0);
          if (target.part == ProductPart::kTangents) {
            h.add_tangent(row, col, value);
          } else if (!is_own_group || row >= col) {  // within a group each pair comes twice
            h.of_pair(row, col) += value;
          }
        }
      }
    }
  }
}

std::vector<int> DirectionProducts::columns_of(const DirectionBlock& block) const {
  const auto first = planner_.groups()[at(block.group)].directions.begin() + block.first;
  std::vector<int> columns(first, first + block.count);
  const int last = *std::max_element(columns.begin(), columns.end());
  for (const Target& target : targets_[at(block.group)]) {
    if (target.part == ProductPart::kTangents || planner_.group_of(target.use) == block.group) {
      continue;
    }
    for (const int theta : uses_.uses[at(target.use)].theta) {
      if (theta >= 0 && theta < last) columns.push_back(theta);
    }
  }
  return columns;
}

}  // namespace hesscope::detail
