// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/core/team.h>
#include <hesscope/structured/internal/graph/hessian_shares.h>

namespace hesscope::detail {
namespace {

const DirectionBlock& block_of(const GraphPlan& plan, const Stage& stage, int b) {
  return plan.planner.blocks()[at(stage.first_block + b)];
}

// Columns that belong together, with all their work. A column belongs to the first bundle that
// names it.
class Bundles {
 public:
  explicit Bundles(Eigen::Index num_parameters) : bundle_of_(at(num_parameters), -1) {}

  void add(std::span<const int> columns, double work) {
    if (columns.empty()) return;
    int& bundle = bundle_of_[at(columns.front())];
    if (bundle < 0) {
      bundle = static_cast<int>(work_.size());
      work_.push_back(0);
    }
    work_[at(bundle)] += work;
    for (const int column : columns) {
      if (bundle_of_[at(column)] < 0) bundle_of_[at(column)] = bundle;
    }
  }

  std::vector<int> owners(int num_ranks) const {
    const auto cuts = equal_shares(
        std::ssize(work_), num_ranks, [&](Eigen::Index bundle) { return work_[at(bundle)]; });
    std::vector<int> owners;
    for (const int bundle : bundle_of_) {
      const auto end = std::upper_bound(cuts.begin(), cuts.end(), std::max(bundle, 0));
      owners.push_back(std::min(static_cast<int>(end - cuts.begin()), num_ranks) - 1);
    }
    return owners;
  }

 private:
  std::vector<int> bundle_of_;  // for each column; -1 if nothing writes to it
  std::vector<double> work_;
};

}  // namespace

std::vector<int> owners_of_columns(const GraphPlan& plan,
                                   std::span<const Stage> stages,
                                   Eigen::Index num_parameters,
                                   int num_ranks) {
  Bundles bundles(num_parameters);
  for (const Stage& stage : stages) {
    if (stage.is_kept) {
      for (const ProductTask& task : stage.tasks) {
        for (const auto& own : plan.products.own_columns_of(task)) {
          bundles.add(own.columns, own.multiply_adds);
        }
      }
    } else {
      for (int b = 0; b < stage.end_block - stage.first_block; ++b) {
        const DirectionBlock& block = block_of(plan, stage, b);
        bundles.add(plan.planner.directions(block), block.multiply_adds);
      }
    }
  }
  return bundles.owners(num_ranks);
}

std::vector<Stage> stages_of(const GraphPlan& plan,
                             std::span<const Stage> stages,
                             std::span<const int> owners,
                             int rank) {
  const auto is_own = [&](std::span<const int> columns) {
    return std::ranges::any_of(columns, [&](int column) { return owners[at(column)] == rank; });
  };
  std::vector<Stage> own;
  for (const Stage& stage : stages) {
    const int num_blocks = stage.end_block - stage.first_block;
    Stage mine{.first_block = stage.first_block,
               .end_block = stage.end_block,
               .is_kept = stage.is_kept,
               .first_rows = stage.first_rows,
               .num_rows = stage.num_rows,
               .tasks = {},
               .sweep_work = 0,
               .work = 0,
               .is_left_out = std::vector<char>(at(num_blocks), 1)};
    for (const ProductTask& task : stage.tasks) {
      if (!is_own(plan.products.columns_of(task))) continue;
      mine.tasks.push_back(task);
      mine.work += task.multiply_adds;
      plan.products.for_blocks_of(
          task, [&](int block) { mine.is_left_out[at(block - stage.first_block)] = 0; });
    }
    for (int b = 0; b < num_blocks; ++b) {
      const DirectionBlock& block = block_of(plan, stage, b);
      if (!stage.is_kept && is_own(plan.planner.directions(block))) {
        mine.is_left_out[at(b)] = 0;
      }
      if (!mine.leaves_out(b)) mine.sweep_work += static_cast<long>(block.multiply_adds);
    }
    mine.work += mine.sweep_work;
    own.push_back(std::move(mine));
  }
  return own;
}

}  // namespace hesscope::detail
