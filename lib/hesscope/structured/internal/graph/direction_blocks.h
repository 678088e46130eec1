// SPDX-License-Identifier: BSD-3-Clause
//
// Which directions a Hessian's sweeps take, and what each of them has to look at.
//
// Uses that share parameters or entries make a group. A group's columns of H follow from tangents
// seeded either in the entries z that it adds to, which all its positions and units have, or in its
// parameters: whichever costs less. Groups are taken from the inputs to the output; the rows of a
// group's columns are its own and those of later groups, since H is symmetric: sweeps begin and end at
// the group.
#pragma once

#include <array>
#include <span>
#include <vector>

#include <hesscope/structured/internal/graph/parameter_uses.h>
#include <hesscope/structured/internal/graph/tangent_sweep.h>

namespace hesscope::detail {

struct UseGroup {
  std::vector<int> uses;
  bool is_by_parameters = false;
  /// Whether a parameter is used in more than one of them, or in one and as an own use.
  bool has_repeats = false;
  std::vector<int> directions = {};  ///< entries z, or parameters
};

/// Up to kDirections directions of a group.
struct DirectionBlock {
  int group = 0;
  int first = 0;  ///< of UseGroup::directions
  int count = 0;
  std::vector<NodeSweep> plan = {};  ///< of each node
  std::vector<Seed> seeds = {};
  double multiply_adds = 0;  ///< of its sweep, for one sample
};

class DirectionPlanner {
 public:
  DirectionPlanner(const Graph& graph,
                   const EntryNumbers& entries,
                   const ParameterUses& uses,
                   std::span<const SweepNode> nodes,
                   std::span<const int> one_hot_values);

  /// In the order that rows follow columns.
  const std::vector<UseGroup>& groups() const { return groups_; }

  const std::vector<DirectionBlock>& blocks() const { return blocks_; }

  /// Multiply-adds of all, for one sample: of sweeps and of products.
  double sweep_work() const { return sweep_work_; }

  double product_work() const { return product_work_; }

  /// Whether x of a use depends on the entries of a group.
  bool is_fed(int use, int group) const {
    return is_fed_[static_cast<std::size_t>(use) * groups_.size() +
                   static_cast<std::size_t>(group)] != 0;
  }

  /// Whether entry `entry` of the graph is in the interval, of entries of its node.
  bool is_in(const DirectionBlock& block, int entry, bool is_adjoint) const;

 private:
  void find_groups();
  void find_needs();
  void find_fed();
  void choose_directions(int group);
  std::vector<int> site_directions(const UseGroup& group) const;
  std::vector<int> parameter_directions(const UseGroup& group) const;
  std::vector<DirectionBlock> plan(int group,
                                   const std::vector<int>& directions,
                                   bool by_parameters);
  // With reads_whole, of nodes with entries z or x the whole, if anything.
  void plan_forward(DirectionBlock& block, bool reads_whole);
  void plan_reverse(DirectionBlock& block, bool reads_whole);
  Interval aligned(int node, Interval entries) const;
  Interval forward_of(const DirectionBlock& block, int node) const;
  void widen(DirectionBlock& block, int node, Interval entries, bool is_adjoint) const;
  void reverse_of(DirectionBlock& block, int node) const;
  double product_work(int group,
                      const std::vector<DirectionBlock>& blocks,
                      bool by_parameters) const;
  double sweep_work(const DirectionBlock& block) const;

  const Graph& graph_;
  std::span<const Graph::Node> nodes_;
  const EntryNumbers& entries_;
  const ParameterUses& uses_;
  std::span<const SweepNode> kept_;
  std::span<const int> one_hot_values_;
  std::vector<UseGroup> groups_;
  std::vector<DirectionBlock> blocks_;
  std::vector<int> alignment_;       // of each node, in entries
  std::vector<int> last_group_;      // of each node: the last one it depends on; -1
  std::vector<char> needs_tangent_;  // of each node: whether anything asks for it
  std::vector<char> is_read_;        // of each node: whether it has entries z or x
  std::vector<char> is_fed_;         // of each use and group
  double sweep_work_ = 0;
  double product_work_ = 0;
};

}  // namespace hesscope::detail
