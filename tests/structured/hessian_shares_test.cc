// SPDX-License-Identifier: BSD-3-Clause
//
// How ranks share the Hessians of narrow networks, whose units are few in a task of pairs.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/models/mlp.h>
#include <hesscope/structured/internal/graph/hessian_shares.h>

namespace hesscope::detail {
namespace {

// One for each run of blocks whose tangents are kept, or are not.
std::vector<Stage> stages_of_all(const GraphPlan& plan) {
  const auto& blocks = plan.planner.blocks();
  const auto is_kept = [&](std::size_t b) {
    return !plan.planner.groups()[static_cast<std::size_t>(blocks[b].group)].is_by_parameters;
  };
  std::vector<Stage> stages;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (stages.empty() || stages.back().is_kept != is_kept(b)) {
      const auto first = static_cast<int>(b);
      stages.push_back({.first_block = first,
                        .end_block = first,
                        .is_kept = is_kept(b),
                        .first_rows = {},
                        .num_rows = 0,
                        .tasks = {},
                        .sweep_work = 0,
                        .work = 0});
    }
    Stage& stage = stages.back();
    ++stage.end_block;
    stage.sweep_work += static_cast<long>(blocks[b].multiply_adds);
  }
  for (Stage& stage : stages) {
    if (stage.is_kept) stage.tasks = plan.products.tasks(stage.first_block, stage.end_block);
    stage.work = stage.sweep_work;
    for (const ProductTask& task : stage.tasks) stage.work += task.multiply_adds;
  }
  return stages;
}

long work_of(const std::vector<Stage>& stages) {
  long work = 0;
  for (const Stage& stage : stages) work += stage.work;
  return work;
}

TEST(HessianShares, OfPairsAreDividedByUnits) {
  for (const auto& widths : {std::vector<std::int64_t>{4, 16, 16, 2}, {3, 20, 3}, {2, 30, 30, 1}}) {
    const Model model = mlp({.widths = widths});
    EntryNumbers entries(*model.graph);
    ParameterUses uses = find_parameter_uses(*model.graph, entries);
    const GraphPlan plan(model.graph, std::move(entries), std::move(uses), best_instruction_set());
    const std::vector<Stage> stages = stages_of_all(plan);
    const bool has_pairs = std::ranges::any_of(stages, [](const Stage& stage) {
      return std::ranges::any_of(
          stage.tasks, [](const ProductTask& task) { return task.kind == ProductKind::kPairs; });
    });
    EXPECT_TRUE(has_pairs);
    const auto total = static_cast<double>(work_of(stages));
    for (const auto& [num_ranks, most] : {std::pair{2, 0.7}, {4, 0.6}, {8, 0.6}}) {
      const std::vector<int> owners =
          owners_of_columns(plan, stages, model.num_parameters(), num_ranks);
      for (int rank = 0; rank < num_ranks; ++rank) {
        const auto work = static_cast<double>(work_of(stages_of(plan, stages, owners, rank)));
        EXPECT_GT(work, 0.05 * total) << widths.size() << ", " << rank << " of " << num_ranks;
        EXPECT_LT(work, most * total) << widths.size() << ", " << rank << " of " << num_ranks;
      }
    }
  }
}

}  // namespace
}  // namespace hesscope::detail
