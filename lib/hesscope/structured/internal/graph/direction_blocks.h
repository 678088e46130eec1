// SPDX-License-Identifier: BSD-3-Clause
//
// Which directions the sweeps of a Hessian use, and what each of them has to consider.
//
// Uses that share parameters or entries form a group. A group's columns of H follow from tangents
// seeded either in the entries z to which it adds, for all its positions and units, or in its
// parameters, whichever costs less. Groups are processed from the inputs to the output. Since H is
// symmetric, the rows needed for a group's columns are its own and those of later groups: sweeps
// begin and end at the group.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include <hesscope/structured/internal/graph/entry_runs.h>
#include <hesscope/structured/internal/graph/graph_layout.h>
#include <hesscope/structured/internal/graph/parameter_uses.h>
#include <hesscope/structured/internal/graph/sweep_intervals.h>

namespace hesscope::detail {

struct UseGroup {
  std::vector<int> uses;
  bool is_by_parameters = false;
  /// Whether a parameter is used in more than one of them, or in one and also as a use of itself.
  bool has_repeats = false;
  std::vector<int> directions = {};  ///< entries z, or parameters
};

/// Whether d2L / dtheta[i,j] dtheta[a,b] within a use is symmetric in j and b, so that half of its
/// block can be copied from the other half.
/// @param is_fed  whether x depends on the use's own group
inline bool is_symmetric_in_inputs(const ParameterUse& use, const UseGroup& group, bool is_fed) {
  return use.is_single_product() && use.has_all_parameters() && !group.has_repeats && !is_fed;
}

/// Up to kDirections directions of a group.
struct DirectionBlock {
  int group = 0;
  int first = 0;  ///< of UseGroup::directions
  int count = 0;
  SweepPlanOfNodes plan = {};
  std::vector<Seed> seeds = {};
  double multiply_adds = 0;  ///< of its sweep, per sample
};

class DirectionPlanner {
 public:
  DirectionPlanner(const SweepGraph& graph,
                   const EntryNumbers& entries,
                   const ParameterUses& uses,
                   const GraphLayout& layout);

  /// In the order in which rows follow columns.
  const std::vector<UseGroup>& groups() const { return groups_; }

  const std::vector<DirectionBlock>& blocks() const { return blocks_; }

  std::span<const int> directions(const DirectionBlock& block) const {
    return std::span(groups_[static_cast<std::size_t>(block.group)].directions)
        .subspan(static_cast<std::size_t>(block.first), static_cast<std::size_t>(block.count));
  }

  /// Multiply-adds per sample in total: of sweeps and of products.
  double sweep_work() const { return sweep_work_; }

  double product_work() const { return product_work_; }

  int group_of(int use) const { return group_of_use_[static_cast<std::size_t>(use)]; }

  /// Whether the x of a use depends on the entries of a group.
  bool is_fed(int use, int group) const {
    return is_fed_[static_cast<std::size_t>(use) * groups_.size() +
                   static_cast<std::size_t>(group)] != 0;
  }

  /// Whether entry `entry` of the graph is in the interval of its node.
  bool is_in(const DirectionBlock& block, int entry, bool is_adjoint) const {
    return intervals_->is_in(block.plan, entry, is_adjoint);
  }

 private:
  // Plans by the directions of a block, for one group.
  using KnownPlans = std::map<std::vector<int>, SweepPlanOfNodes>;

  void find_groups();
  void add_group(UseGroup group);
  void find_fed();
  void choose_directions(int group);
  bool may_cost_less_by_parameters(int group,
                                   const std::vector<int>& directions,
                                   double work) const;
  std::size_t num_sites(const UseGroup& group) const;
  std::vector<int> site_directions(int group, KnownPlans* known) const;
  std::vector<int> parameter_directions(const UseGroup& group) const;
  std::vector<DirectionBlock> plan(int group,
                                   const std::vector<int>& directions,
                                   bool by_parameters,
                                   KnownPlans* known) const;
  void add_plans(const std::vector<int>& directions,
                 bool by_parameters,
                 KnownPlans* known,
                 std::vector<DirectionBlock>& blocks) const;
  // Whether a use's x has tangents in the block.
  bool feeds(const DirectionBlock& block, int use) const;
  double row_work(int group, const std::vector<DirectionBlock>& blocks, bool by_parameters) const;
  double num_rows(int group,
                  int use,
                  const std::vector<DirectionBlock>& blocks,
                  bool by_parameters) const;
  double product_work(int group,
                      const std::vector<DirectionBlock>& blocks,
                      bool by_parameters) const;

  const SweepGraph& graph_;
  const EntryNumbers& entries_;
  const ParameterUses& uses_;
  const GraphLayout& layout_;
  std::optional<SweepIntervals> intervals_;
  std::vector<UseGroup> groups_;
  std::vector<int> group_of_use_;
  std::vector<EntryRuns> x_runs_;  // for each use
  std::vector<EntryRuns> z_runs_;
  std::vector<DirectionBlock> blocks_;
  std::vector<char> is_fed_;  // for each use and group
  double sweep_work_ = 0;
  double product_work_ = 0;
};

}  // namespace hesscope::detail
