// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/core/internal/disjoint_sets.h>
#include <hesscope/structured/internal/graph/direction_blocks.h>

namespace hesscope::detail {
namespace {

// Directions are taken unit by unit if their work is at most this multiple of that position by
// position.
constexpr double kSpread = 1.5;

double work_of(const std::vector<DirectionBlock>& blocks) {
  return std::accumulate(blocks.begin(), blocks.end(), 0.0, [](double sum, const auto& block) {
    return sum + block.multiply_adds;
  });
}

// Position by position for the first units, as many as are processed together, then for the next.
std::vector<int> entries_of(const ParameterUse& use, Interval units, int at_once) {
  std::vector<int> entries;
  for (int unit = units.begin; unit < units.end; unit += at_once) {
    for (int t = 0; t < use.positions; ++t) {
      for (int i = unit; i < std::min(unit + at_once, units.end); ++i) {
        entries.push_back(use.z[at(t * use.units + i)]);
      }
    }
  }
  return entries;
}

}  // namespace

DirectionPlanner::DirectionPlanner(const SweepGraph& graph,
                                   const EntryNumbers& entries,
                                   const ParameterUses& uses,
                                   const GraphLayout& layout)
    : graph_(graph), entries_(entries), uses_(uses), layout_(layout) {
  find_groups();
  group_of_use_.resize(uses.uses.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    for (const int u : groups_[g].uses) group_of_use_[at(u)] = static_cast<int>(g);
  }
  intervals_.emplace(graph, entries, uses, group_of_use_, layout.nodes());
  for (const ParameterUse& use : uses.uses) {
    x_runs_.emplace_back(entries, use.x, use.is_per_unit ? use.units : use.inputs);
    z_runs_.emplace_back(entries, use.z, use.units);
  }
  for (int g = 0; g < static_cast<int>(groups_.size()); ++g) choose_directions(g);
  find_fed();
}

void DirectionPlanner::find_fed() {
  is_fed_.assign(uses_.uses.size() * groups_.size(), 0);
  for (const DirectionBlock& block : blocks_) {
    for (std::size_t u = 0; u < uses_.uses.size(); ++u) {
      char& is_fed = is_fed_[u * groups_.size() + at(block.group)];
      if (!is_fed) is_fed = feeds(block, static_cast<int>(u));
    }
  }
}

void DirectionPlanner::find_groups() {
  const std::size_t count = uses_.uses.size();
  DisjointSets sets(std::ssize(uses_.uses));
  std::vector<int> user_of_theta(at(graph_.num_parameters), -1);
  std::vector<int> user_of_entry(at(entries_.size()), -1);
  std::vector<char> repeats(count, 0);
  for (int u = 0; u < static_cast<int>(count); ++u) {
    const ParameterUse& use = uses_.uses[at(u)];
    const auto join = [&](int& user, bool is_theta) {
      if (user >= 0 && user != u) {
        sets.join(u, user);
        if (is_theta) repeats[at(u)] = 1;
      }
      user = u;
    };
    for (const int theta : use.theta) {
      if (theta >= 0) join(user_of_theta[at(theta)], true);
    }
    for (const int z : use.z) join(user_of_entry[at(z)], false);
  }
  std::vector<int> first_entry(count, entries_.size());  // for each set
  for (int u = 0; u < static_cast<int>(count); ++u) {
    const auto& z = uses_.uses[at(u)].z;
    int& first = first_entry[at(sets.find(u))];
    first = std::min(first, *std::min_element(z.begin(), z.end()));
  }
  std::vector<int> roots;
  for (int u = 0; u < static_cast<int>(count); ++u) {
    if (sets.find(u) == u) roots.push_back(u);
  }
  std::sort(roots.begin(), roots.end(), [&](int a, int b) {
    return first_entry[at(a)] < first_entry[at(b)];
  });
  for (const int root : roots) {
    UseGroup group;
    for (int u = 0; u < static_cast<int>(count); ++u) {
      if (sets.find(u) != root) continue;
      group.uses.push_back(u);
      if (repeats[at(u)]) group.has_repeats = true;
    }
    add_group(std::move(group));
  }
}

// A sweep always takes kDirections directions: neighbouring groups that together have no more
// become one.
void DirectionPlanner::add_group(UseGroup group) {
  const auto num_parameters = [&](const UseGroup& g) { return parameter_directions(g).size(); };
  const bool joins =
      !groups_.empty() && num_parameters(groups_.back()) + num_parameters(group) <= kDirections;
  if (!joins) return groups_.push_back(std::move(group));
  UseGroup& last = groups_.back();
  last.uses.insert(last.uses.end(), group.uses.begin(), group.uses.end());
  std::ranges::sort(last.uses);
  last.has_repeats = last.has_repeats || group.has_repeats;
}

// Entries z of kDirections units after another. The entries that a block of units at one position
// reaches may be close together; if they are not, a unit's positions are taken together, so that
// products process them at once.
std::vector<int> DirectionPlanner::site_directions(int g, KnownPlans* known) const {
  std::vector<int> directions;
  std::vector<char> is_there(at(entries_.size()), 0);
  for (const int u : groups_[at(g)].uses) {
    const ParameterUse& use = uses_.uses[at(u)];
    for (int unit = 0; unit < use.units; unit += kDirections) {
      const Interval units{unit, std::min(unit + kDirections, use.units)};
      const std::vector<int> by_position = entries_of(use, units, kDirections);
      const std::vector<int> by_unit = entries_of(use, units, 1);
      const auto work = [&](const std::vector<int>& entries) {
        const std::vector<DirectionBlock> blocks = plan(g, entries, false, known);
        return work_of(blocks) + row_work(g, blocks, false);
      };
      const bool is_by_unit =
          by_unit != by_position && work(by_unit) <= kSpread * work(by_position);
      for (const int z : is_by_unit ? by_unit : by_position) {
        if (!is_there[at(z)]) directions.push_back(z);
        is_there[at(z)] = 1;
      }
    }
  }
  return directions;
}

std::size_t DirectionPlanner::num_sites(const UseGroup& group) const {
  std::vector<char> is_there(at(entries_.size()), 0);
  for (const int u : group.uses) {
    for (const int z : uses_.uses[at(u)].z) is_there[at(z)] = 1;
  }
  return static_cast<std::size_t>(std::ranges::count(is_there, 1));
}

// Unit by unit: products with the group's own rows omit the preceding units.
std::vector<int> DirectionPlanner::parameter_directions(const UseGroup& group) const {
  std::vector<int> directions;
  std::vector<char> is_there(at(graph_.num_parameters), 0);
  for (const int u : group.uses) {
    for (const int theta : uses_.uses[at(u)].theta) {
      if (theta < 0 || is_there[at(theta)]) continue;
      directions.push_back(theta);
      is_there[at(theta)] = 1;
    }
  }
  return directions;
}

// Judged by the first block, whose directions may differ from the others.
bool DirectionPlanner::may_cost_less_by_parameters(int g,
                                                   const std::vector<int>& directions,
                                                   double work) const {
  constexpr double kMargin = 2;
  const auto count = std::min<std::ptrdiff_t>(kDirections, std::ssize(directions));
  const std::vector<int> first(directions.begin(), directions.begin() + count);
  const std::vector<DirectionBlock> block = plan(g, first, true, nullptr);
  const double work_of_block = work_of(block) + product_work(g, block, true);
  return work_of_block * static_cast<double>(std::ssize(directions)) <
         kMargin * work * static_cast<double>(count);
}

void DirectionPlanner::choose_directions(int g) {
  UseGroup& group = groups_[at(g)];
  std::vector<int> directions = parameter_directions(group);
  std::vector<DirectionBlock> blocks;
  double sweeps = 0;
  double products = 0;
  // With more than twice as many entries as parameters, this cannot pay off.
  const bool may_be_sites = num_sites(group) <= 2 * directions.size();
  std::vector<int> sites;
  if (may_be_sites) {
    KnownPlans known;
    sites = site_directions(g, &known);
    blocks = plan(g, sites, false, &known);
    sweeps = work_of(blocks);
    products = product_work(g, blocks, false);
  }
  if (!may_be_sites || directions.size() < 2 * sites.size() ||
      may_cost_less_by_parameters(g, directions, sweeps + products)) {
    std::vector<DirectionBlock> others = plan(g, directions, true, nullptr);
    const double other_sweeps = work_of(others);
    const double other_products = product_work(g, others, true);
    if (!may_be_sites || other_sweeps + other_products < sweeps + products) {
      group.is_by_parameters = true;
      blocks = std::move(others);
      sweeps = other_sweeps;
      products = other_products;
    }
  }
  group.directions = group.is_by_parameters ? std::move(directions) : sites;
  sweep_work_ += sweeps;
  product_work_ += products;
  for (DirectionBlock& block : blocks) blocks_.push_back(std::move(block));
}

std::vector<DirectionBlock> DirectionPlanner::plan(int g,
                                                   const std::vector<int>& directions,
                                                   bool by_parameters,
                                                   KnownPlans* known) const {
  struct Place {
    int use;
    int unit;
    int input;
  };

  std::vector<std::vector<Place>> places;  // for each parameter
  if (by_parameters) {
    places.resize(at(graph_.num_parameters));
    for (const int u : groups_[at(g)].uses) {
      const ParameterUse& use = uses_.uses[at(u)];
      for (int i = 0; i < use.units; ++i) {
        for (int j = 0; j < use.inputs; ++j) {
          const int theta = use.theta[at(i * use.inputs + j)];
          if (theta >= 0) places[at(theta)].push_back({u, i, j});
        }
      }
    }
  }
  const auto value_of = [&](int x) { return x == kUnitInput ? -1 : layout_.value_of(entries_, x); };
  std::vector<DirectionBlock> blocks;
  const auto count = static_cast<int>(directions.size());
  for (int first = 0; first < count; first += kDirections) {
    DirectionBlock block{.group = g, .first = first, .count = std::min(kDirections, count - first)};
    for (int d = 0; d < block.count; ++d) {
      const int direction = directions[at(first + d)];
      const auto seed = [&](int z, int x, double factor) {
        const int node = entries_.node_of(z);
        block.seeds.push_back({node, z - entries_.first(node), d, x, factor});
      };
      if (!by_parameters) {
        seed(direction, -1, 1);
        continue;
      }
      for (const Place& place : places[at(direction)]) {
        const ParameterUse& use = uses_.uses[at(place.use)];
        for (int t = 0; t < use.positions; ++t) {
          seed(use.z[at(t * use.units + place.unit)],
               value_of(use.x_at(t, place.unit, place.input)),
               use.factor);
        }
      }
    }
    std::ranges::stable_sort(block.seeds, {}, &Seed::node);
    blocks.push_back(std::move(block));
  }
  add_plans(directions, by_parameters, known, blocks);
  return blocks;
}

void DirectionPlanner::add_plans(const std::vector<int>& directions,
                                 bool by_parameters,
                                 KnownPlans* known,
                                 std::vector<DirectionBlock>& blocks) const {
  const auto key = [&](const DirectionBlock& block) {
    const auto own = directions.begin() + block.first;
    return std::vector<int>(own, own + block.count);
  };
  std::vector<DirectionBlock*> unknown;
  std::vector<std::span<const Seed>> seeds;
  for (DirectionBlock& block : blocks) {
    if (known != nullptr) {
      const auto found = known->find(key(block));
      if (found != known->end()) {
        block.plan = found->second;
        continue;
      }
    }
    unknown.push_back(&block);
    seeds.push_back(block.seeds);
  }
  if (!unknown.empty()) {
    std::vector<SweepPlanOfNodes> plans =
        intervals_->plans(seeds, unknown.front()->group, by_parameters);
    for (std::size_t k = 0; k < unknown.size(); ++k) {
      unknown[k]->plan = std::move(plans[k]);
      if (known != nullptr) known->emplace(key(*unknown[k]), unknown[k]->plan);
    }
  }
  for (DirectionBlock& block : blocks) {
    block.multiply_adds = block.count * intervals_->multiply_adds(block.plan);
  }
}

bool DirectionPlanner::feeds(const DirectionBlock& block, int u) const {
  return uses_.uses[at(u)].x_varies && x_runs_[at(u)].is_any_in(block.plan, &NodeSweep::tangent);
}

// Work of the rows of the products for a group's columns, from the tangents of these directions.
double DirectionPlanner::row_work(int g,
                                  const std::vector<DirectionBlock>& blocks,
                                  bool by_parameters) const {
  double work = 0;
  for (int h = g; h < static_cast<int>(groups_.size()); ++h) {
    for (const int u : groups_[at(h)].uses) {
      const ParameterUse& use = uses_.uses[at(u)];
      const double size = num_rows(g, u, blocks, by_parameters);
      for (const DirectionBlock& block : blocks) {
        double terms = 0;
        const EntryRuns& z = z_runs_[at(u)];
        const EntryRuns& x = x_runs_[at(u)];
        const bool has_z = z.reaches_nodes(block.plan, &NodeSweep::adjoint);
        const bool has_x = use.x_varies && x.reaches_nodes(block.plan, &NodeSweep::tangent);
        for (int t = 0; (has_z || has_x) && t < use.positions; ++t) {
          if (has_z) terms += z.is_any_in(block.plan, t, &NodeSweep::adjoint);
          if (has_x) terms += x.is_any_in(block.plan, t, &NodeSweep::tangent);
        }
        work += size * terms * block.count;
      }
    }
  }
  return work;
}

// Number of a use's parameters that are rows for a group's columns. Half of a block of the group
// itself follows from the other half, or three quarters from one quarter.
double DirectionPlanner::num_rows(int g,
                                  int u,
                                  const std::vector<DirectionBlock>& blocks,
                                  bool by_parameters) const {
  const ParameterUse& use = uses_.uses[at(u)];
  const double size = static_cast<double>(use.units) * use.inputs;
  if (group_of(u) != g) return size;
  const bool is_fed =
      std::ranges::any_of(blocks, [&](const DirectionBlock& block) { return feeds(block, u); });
  const bool is_quarter = !by_parameters && is_symmetric_in_inputs(use, groups_[at(g)], is_fed);
  return size * (is_quarter ? 0.25 * (1.0 + 1.0 / use.units) * (1.0 + 1.0 / use.inputs) : 0.5);
}

double DirectionPlanner::product_work(int g,
                                      const std::vector<DirectionBlock>& blocks,
                                      bool by_parameters) const {
  const double work = row_work(g, blocks, by_parameters);
  if (by_parameters) return work;
  double rows = 0;
  double columns = 0;  // each counted as often as it has positions
  for (int u = 0; u < static_cast<int>(uses_.uses.size()); ++u) {
    const ParameterUse& use = uses_.uses[at(u)];
    if (group_of(u) >= g) rows += num_rows(g, u, blocks, by_parameters);
    if (group_of(u) == g) columns += static_cast<double>(use.positions) * use.units * use.inputs;
  }
  return work + rows * columns;
}

}  // namespace hesscope::detail
