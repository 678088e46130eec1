// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <hesscope/structured/internal/graph/entry_numbers.h>
#include <hesscope/structured/internal/graph/sweep_intervals.h>

namespace hesscope::detail {

/// The entries of a use at each of its positions, consecutive ones of a node together: whether a
/// sweep reaches any of them is then known after few comparisons.
class EntryRuns {
 public:
  /// @param width  entries per position. Those that are kUnitInput, or of one-hot rows, are left
  ///               out.
  EntryRuns(const EntryNumbers& numbers, std::span<const int> entries, int width);

  bool is_any_in(const SweepPlanOfNodes& plan, int position, Interval NodeSweep::*part) const;

  /// Whether it reaches nodes of these entries, at least: what costs less to find.
  bool reaches_nodes(const SweepPlanOfNodes& plan, Interval NodeSweep::*part) const;

  /// At any position.
  bool is_any_in(const SweepPlanOfNodes& plan, Interval NodeSweep::*part) const;

 private:
  struct Run {
    int node;
    Interval entries;
  };

  bool is_any_in(const SweepPlanOfNodes& plan,
                 std::span<const Run> runs,
                 Interval NodeSweep::*part) const;

  std::vector<int> nodes_;
  std::vector<Run> runs_;
  std::vector<std::size_t> first_;  // for each position; ends with the end of the last
};

}  // namespace hesscope::detail
