// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/structured/internal/graph/entry_runs.h>

namespace hesscope::detail {

EntryRuns::EntryRuns(const EntryNumbers& numbers, std::span<const int> entries, int width) {
  for (std::size_t k = 0; k < entries.size(); ++k) {
    if (k % at(width) == 0) first_.push_back(runs_.size());
    const int node = entries[k] == kUnitInput ? -1 : numbers.node_of(entries[k]);
    if (node < 0) continue;
    const int entry = entries[k] - numbers.first(node);
    const bool continues = runs_.size() > first_.back() && runs_.back().node == node &&
                           runs_.back().entries.end == entry;
    if (continues) {
      ++runs_.back().entries.end;
    } else {
      runs_.push_back({node, {entry, entry + 1}});
    }
  }
  first_.push_back(runs_.size());
  for (const Run& run : runs_) nodes_.push_back(run.node);
  std::ranges::sort(nodes_);
  nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
}

bool EntryRuns::reaches_nodes(const SweepPlanOfNodes& plan, Interval NodeSweep::*part) const {
  return std::ranges::any_of(nodes_, [&](int node) { return !(plan[at(node)].*part).is_empty(); });
}

bool EntryRuns::is_any_in(const SweepPlanOfNodes& plan,
                          int position,
                          Interval NodeSweep::*part) const {
  const std::size_t first = first_[at(position)];
  return is_any_in(plan, std::span(runs_).subspan(first, first_[at(position + 1)] - first), part);
}

bool EntryRuns::is_any_in(const SweepPlanOfNodes& plan, Interval NodeSweep::*part) const {
  return reaches_nodes(plan, part) && is_any_in(plan, runs_, part);
}

bool EntryRuns::is_any_in(const SweepPlanOfNodes& plan,
                          std::span<const Run> runs,
                          Interval NodeSweep::*part) const {
  return std::ranges::any_of(runs, [&](const Run& run) {
    return !common_part(run.entries, plan[at(run.node)].*part).is_empty();
  });
}

}  // namespace hesscope::detail
