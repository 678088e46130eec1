// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/huge_pages.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/linalg/internal/triangles.h>
#include <hesscope/structured/graph_hessian.h>
#include <hesscope/structured/internal/graph/composed_hessian.h>
#include <hesscope/structured/internal/graph/computed_weights.h>
#include <hesscope/structured/internal/graph/hessian_shares.h>
#include <hesscope/structured/internal/graph/hessian_sum.h>
#include <hesscope/structured/internal/graph/late_parameters.h>

namespace hesscope::detail {
namespace {

// A chunk holds at most this many packs, and fewer if products also have positions in their inner
// index: for a product at one position, next to others at many, a quarter of kInnerPacks is long
// enough. Where tangents are swept separately, more packs bring no gain ...
constexpr long kChunkPacks = 64;
constexpr long kInnerPacks = 4 * kChunkPacks;
// ... but each access to H by products at one position goes to memory once more ...
constexpr long kChunkPacksAtOnePosition = 2 * kChunkPacks;
// ... and each of its parts holds at most so many doubles (64 MiB), unless one pack needs more:
// points and panels, and the tangents of some directions.
constexpr long kMaxDoubles = 1L << 23;
// The tangents of a stage, unless those of one block need more: they stay in a shared cache ...
constexpr long kStageDoubles = 1L << 20;
// ... except for an H with more doubles than that cache holds: then a stage has all positions of
// its units, up to so many doubles, and a chunk has fewer packs, so that they fit; H is accessed
// once per chunk.
constexpr long kCachedHessian = 1L << 21;
constexpr long kStageDoublesOfUnits = 1L << 23;
constexpr long kInnerPacksOfUnits = kChunkPacks;

class SiteHessian final : public GraphHessian {
 public:
  SiteHessian(std::shared_ptr<const Graph> graph,
              EntryNumbers entries,
              ParameterUses uses,
              InstructionSet set)
      : graph_(std::move(graph), std::move(entries), std::move(uses), set) {
    max_packs_ = std::clamp(kMaxDoubles / std::max(1L, chunk_size(1)), 1L, wanted_packs());
    plan_.sweep_multiply_adds = graph_.planner.sweep_work();
    plan_.product_multiply_adds = graph_.planner.product_work();
    for (const UseGroup& group : graph_.planner.groups())
      plan_.directions += std::ssize(group.directions);
    list_stages();
  }

  const HessianPlan& plan() const override { return plan_; }

  bool mean(std::span<const double> theta,
            Records records,
            const Executor& executor,
            const ProgressCallback& progress,
            Eigen::Ref<Eigen::MatrixXd> h) const override;

  double workspace_bytes(int num_threads) const override {
    const long tangents = stage_rows_ * row_step(max_packs_);
    const long thread =
        graph_.sweep_size() + CurvatureProducts::scratch_size(static_cast<int>(max_packs_)) +
        graph_.direction_products.sums_size() + 4L * graph_.entries.size() * kPackSamples;
    return static_cast<double>(chunk_size(max_packs_) + tangents + num_threads * thread) *
           sizeof(double);
  }

 private:
  bool is_hessian_large() const {
    return long{graph_.sweeps.num_parameters} * graph_.sweeps.num_parameters / 2 > kCachedHessian;
  }

  // Enough for the longest inner index of kInnerPacks, including positions of columns.
  long wanted_packs() const {
    int positions = 0;
    for (const UseGroup& group : graph_.planner.groups()) {
      if (group.is_by_parameters) continue;
      for (const int u : group.uses) {
        positions = std::max(positions, graph_.uses.uses[at(u)].positions);
      }
    }
    if (positions == 1) return kChunkPacksAtOnePosition;
    const long inner = is_hessian_large() ? kInnerPacksOfUnits : kInnerPacks;
    return std::clamp(inner / std::max(positions, 1), 1L, kChunkPacks);
  }

  // Doubles for the points, rows and panels of so many packs.
  long chunk_size(long num_packs) const {
    long size = num_packs * graph_.point_size() +
                row_step(num_packs) * (std::ssize(graph_.layout.value_rows()) + 1 +
                                       std::ssize(graph_.layout.z_rows()));
    for (int u = 0; u < static_cast<int>(graph_.uses.uses.size()); ++u) {
      size += graph_.products.x_panels_size(u, static_cast<int>(num_packs)) +
              graph_.direction_products.z_panels_size(u, static_cast<int>(num_packs));
    }
    return size;
  }

  void list_stages() {
    const auto num_blocks = static_cast<int>(graph_.planner.blocks().size());
    const auto& blocks = graph_.planner.blocks();
    const auto by_parameters = [&](const DirectionBlock& block) {
      return graph_.planner.groups()[at(block.group)].is_by_parameters;
    };
    const std::vector<char> begins_units = blocks_that_begin_units();
    const auto most_rows = [&](int b) {
      const bool may_be_many = is_hessian_large() && !begins_units[at(b)];
      return (may_be_many ? kStageDoublesOfUnits : kStageDoubles) / row_step(max_packs_);
    };
    for (int first = 0; first < num_blocks;) {
      Stage stage{.first_block = first,
                  .end_block = first,
                  .is_kept = !by_parameters(blocks[at(first)]),
                  .first_rows = {},
                  .num_rows = 0,
                  .tasks = {},
                  .sweep_work = 0,
                  .work = 0};
      const auto belongs = [&](int b) {
        if (by_parameters(blocks[at(b)])) return !stage.is_kept;
        return stage.is_kept && (b == first || stage.num_rows + rows_of(b) <= most_rows(b));
      };
      while (stage.end_block < num_blocks && belongs(stage.end_block)) {
        stage.first_rows.push_back(stage.num_rows);
        stage.num_rows += rows_of(stage.end_block);
        stage.sweep_work += static_cast<long>(blocks[at(stage.end_block)].multiply_adds);
        ++stage.end_block;
      }
      stage.work = stage.sweep_work;
      if (stage.is_kept) {
        stage.tasks = graph_.products.tasks(stage.first_block, stage.end_block);
        for (const ProductTask& task : stage.tasks) {
          stage.work += task.multiply_adds;
          if (task.part == ProductPart::kTangents) triangle_ = Triangle::kBoth;
        }
        stage_rows_ = std::max(stage_rows_, stage.num_rows);
      } else {
        triangle_ = Triangle::kBoth;
      }
      first = stage.end_block;
      stages_.push_back(std::move(stage));
    }
  }

  // For each block, whether its first direction is the z of a use's first position.
  std::vector<char> blocks_that_begin_units() const {
    std::vector<char> is_first(at(graph_.entries.size()), 0);
    for (const ParameterUse& use : graph_.uses.uses) {
      for (int i = 0; i < use.units; ++i) is_first[at(use.z[at(i)])] = 1;
    }
    std::vector<char> begins;
    for (const DirectionBlock& block : graph_.planner.blocks()) {
      const UseGroup& group = graph_.planner.groups()[at(block.group)];
      begins.push_back(group.is_by_parameters || is_first[at(group.directions[at(block.first)])]);
    }
    return begins;
  }

  // Number of rows of tangents kept for a block.
  long rows_of(int b) const { return long{graph_.kept[at(b)].count} * kDirections; }

  GraphPlan graph_;
  HessianPlan plan_;
  long max_packs_ = 1;
  long stage_rows_ = 0;
  std::vector<Stage> stages_;
  Triangle triangle_ = Triangle::kLower;  // where stages accumulate H
};

bool SiteHessian::mean(std::span<const double> theta,
                       Records records,
                       const Executor& executor,
                       const ProgressCallback& progress,
                       Eigen::Ref<Eigen::MatrixXd> h) const {
  require_fit(graph_.graph->num_parameters(), theta, records, h);
  const long num_packs = ceil_div(records.count, kPackSamples);
  const long chunk_packs = ceil_div(num_packs, ceil_div(num_packs, max_packs_));
  advise_huge_pages(h.data(), h.outerStride() * h.cols());
  executor.for_each(h.cols(), [&](Eigen::Index col) {
    const Eigen::Index first = triangle_ == Triangle::kLower ? col : 0;
    h.col(col).tail(h.rows() - first).setZero();
  });
  Team* const team = executor.team();
  std::vector<int> owners;
  std::vector<Stage> shared;
  if (team != nullptr) {
    owners = owners_of_columns(graph_, stages_, h.cols(), team->size());
    shared = stages_of(graph_, stages_, owners, team->rank());
  }
  const std::vector<Stage>& stages = team == nullptr ? stages_ : shared;
  HessianSum sum(graph_, chunk_packs, stage_rows_, theta, executor);
  long work = 0;
  for (const Stage& stage : stages) work += stage.work;
  ProgressCounter counter(progress, work * records.count);
  double loss = 0;
  const auto add_chunk = [&](long first) {
    const long packs = std::min(chunk_packs, num_packs - first);
    const long begin = first * kPackSamples;
    const long count = std::min<long>(packs * kPackSamples, records.count - begin);
    const auto advance = [&](long done) { counter.advance(done * count); };
    loss += sum.set_records({records.data + begin * records.stride, count, records.stride});
    for (const Stage& stage : stages) {
      if (!stage.is_kept) {
        sum.sweep_and_add(stage, {h.data(), h.outerStride()});
        advance(stage.work);
        continue;
      }
      sum.sweep(stage);
      advance(stage.sweep_work);
      sum.add_products(stage, {h.data(), h.outerStride()}, advance);
    }
  };
  const auto add_all = [&] {
    for (long first = 0; first < num_packs; first += chunk_packs) add_chunk(first);
  };
  if (team == nullptr) {
    add_all();
  } else {
    team->together(add_all);
    share_columns(*team, owners, h);
  }
  const bool is_point = std::ranges::all_of(theta, [](double x) { return std::isfinite(x); });
  if (!is_point || !std::isfinite(loss)) h.setConstant(kNaN);
  for (int u = 0; u < static_cast<int>(graph_.uses.uses.size()); ++u) {
    executor.for_each(graph_.uses.uses[at(u)].units, [&](Eigen::Index unit) {
      graph_.products.complete(u, static_cast<int>(unit), {h.data(), h.outerStride()});
    });
  }
  return fill_triangles(executor, triangle_, 1.0 / static_cast<double>(records.count), h);
}

// Null if a lookup's table is computed from parameters, or there are more entries than can be
// numbered.
std::shared_ptr<const GraphHessian> site_hessian(std::shared_ptr<const Graph> graph,
                                                 InstructionSet set) {
  constexpr double kMostEntries = 1 << 30;
  double num_entries = 0;
  for (const Graph::Node& node : graph->nodes()) num_entries += static_cast<double>(node.size());
  if (num_entries > kMostEntries) return nullptr;
  EntryNumbers entries(*graph);
  ParameterUses uses = find_parameter_uses(*graph, entries);
  if (!uses.is_supported) return nullptr;
  return std::make_shared<SiteHessian>(std::move(graph), std::move(entries), std::move(uses), set);
}

// As the graph's products are associated.
std::shared_ptr<const GraphHessian> hessian_of(const std::shared_ptr<const Graph>& graph,
                                               InstructionSet set) {
  // The terms from computed weights must be worth the gain, and their Jacobian must fit into
  // memory.
  constexpr double kLeastGain = 2;
  constexpr double kMostSlopes = 1e8;
  auto direct = site_hessian(graph, set);
  auto weights = find_computed_weights(*graph);
  if (!weights) return direct;
  auto outer = site_hessian(weights->outer, set);
  auto inner = site_hessian(weights->inner, set);
  if (outer == nullptr || inner == nullptr) return direct;
  const bool pays = direct == nullptr ||
                    (weights->max_slopes <= kMostSlopes &&
                     direct->plan().multiply_adds() > kLeastGain * outer->plan().multiply_adds());
  if (!pays) return direct;
  return composed_hessian(
      std::move(*weights), std::move(outer), std::move(inner), std::move(direct), set);
}

}  // namespace
}  // namespace hesscope::detail

namespace hesscope {

std::shared_ptr<const GraphHessian> graph_hessian(const std::shared_ptr<const Graph>& graph,
                                                  InstructionSet set) {
  require_supported(set);
  if (graph == nullptr || graph->output() < 0) {
    throw PreconditionError("graph_hessian: the graph has no output");
  }
  auto best = detail::hessian_of(graph, set);
  if (best == nullptr) return nullptr;
  // Layer by layer from the output, where late parameters reach least.
  const detail::LateParameters late(*graph);
  std::vector<std::int32_t> products;
  for (const std::vector<std::int32_t>& layer : late.layers()) {
    products.insert(products.end(), layer.begin(), layer.end());
    auto other = detail::hessian_of(late.graph(products), set);
    const bool pays =
        other != nullptr && other->plan().multiply_adds() < best->plan().multiply_adds();
    if (!pays) break;
    best = std::move(other);
  }
  return best;
}

}  // namespace hesscope
