// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/structured/internal/graph/entry_runs.h>
#include <hesscope/structured/internal/graph/graph_layout.h>
#include <hesscope/structured/internal/graph/parameter_uses.h>
#include <hesscope/structured/internal/graph/sweep_intervals.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr Index kTokens = 6;
constexpr Index kWidth = 5;

// Causal attention over standardised tokens, then distances between the results: theta has 4 * 25
// entries.
std::shared_ptr<const Graph> attention() {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  MatrixXd mask = MatrixXd::Zero(kTokens, kTokens);
  for (Index i = 0; i < kTokens; ++i) {
    mask.row(i).tail(kTokens - 1 - i).setConstant(-kInfinity);
  }
  const auto weights = [&](Index k) { return g.parameter(25 * k, kWidth, kWidth); };
  const Var x = tanh(matmul(g.input(0, kTokens, kWidth), weights(0)));
  const Var tokens = standardize_rows(x, 0.1);
  const Var scores = matmul_nt(matmul(tokens, weights(1)), tokens) + g.constant(mask);
  const Var y = x + matmul(softmax_rows(scores), matmul(tokens, weights(2)));
  const Var z = matmul(slice(y, 1, 0, kTokens - 1, kWidth), weights(3));
  g.set_output(sum(squared_distances(z, slice(z, 0, 0, 2, kWidth))));
  return graph;
}

// What plans a graph's sweeps.
struct Planned {
  explicit Planned(std::shared_ptr<const Graph> of)
      : graph(std::move(of)),
        entries(*graph),
        uses(find_parameter_uses(*graph, entries)),
        sweeps(*graph, entries, uses),
        layout(sweeps, entries, uses),
        group_of_use(uses.uses.size()),
        intervals(sweeps, entries, uses, group_of_use, layout.nodes()) {}

  std::vector<Seed> seeds_of(int z) const {
    const int node = entries.node_of(z);
    return {{node, z - entries.first(node), 0, -1, 1.0}};
  }

  std::shared_ptr<const Graph> graph;
  EntryNumbers entries;
  ParameterUses uses;
  SweepGraph sweeps;
  GraphLayout layout;
  std::vector<int> group_of_use;
  SweepIntervals intervals;
};

std::string text_of(const SweepPlanOfNodes& plan) {
  std::string text;
  for (const NodeSweep& node : plan) {
    for (const Interval own : {node.tangent, node.adjoint}) {
      text += own.is_empty() ? "- " : std::to_string(own.begin) + ":" + std::to_string(own.end);
      text += ' ';
    }
  }
  return text;
}

TEST(SweepIntervals, OfManySweepsTogetherAreThoseOfEach) {
  const Planned planned(attention());
  std::vector<std::vector<Seed>> own;
  for (const ParameterUse& use : planned.uses.uses) {
    for (const int z : use.z) own.push_back(planned.seeds_of(z));
  }
  ASSERT_GT(own.size(), kMarkedSweeps);
  for (const bool reads_whole : {false, true}) {
    const std::vector<std::span<const Seed>> seeds(own.begin(), own.end());
    const auto together = planned.intervals.plans(seeds, 0, reads_whole);
    ASSERT_EQ(together.size(), seeds.size());
    for (std::size_t k = 0; k < seeds.size(); ++k) {
      const auto alone = planned.intervals.plans(std::span(seeds).subspan(k, 1), 0, reads_whole);
      EXPECT_EQ(text_of(together[k]), text_of(alone[0])) << k;
    }
  }
}

TEST(SweepIntervals, ReachLaterTokensOfACausalModelOnly) {
  const Planned planned(attention());
  const ParameterUse& first = planned.uses.uses.front();
  ASSERT_EQ(first.positions, kTokens);
  for (int t = 0; t < first.positions; ++t) {
    const std::vector<Seed> own = planned.seeds_of(first.z[static_cast<std::size_t>(t * kWidth)]);
    const std::vector<std::span<const Seed>> seeds = {own};
    const SweepPlanOfNodes plan = planned.intervals.plans(seeds, 0, false).front();
    for (std::size_t i = 0; i < plan.size(); ++i) {
      if (planned.graph->nodes()[i].op != Graph::Op::kSoftmaxRows) continue;
      // The first token attends to itself alone, whatever its score.
      EXPECT_EQ(plan[i].tangent.begin, std::max(t, 1) * kTokens);
      EXPECT_EQ(plan[i].tangent.end, kTokens * kTokens);
    }
  }
}

TEST(EntryRuns, TellWhichPositionsASweepReaches) {
  const Planned planned(attention());
  const ParameterUse& first = planned.uses.uses.front();
  const EntryRuns z(planned.entries, first.z, first.units);
  const int node = planned.entries.node_of(first.z.front());
  SweepPlanOfNodes plan(planned.graph->nodes().size());
  EXPECT_FALSE(z.reaches_nodes(plan, &NodeSweep::tangent));
  EXPECT_FALSE(z.is_any_in(plan, &NodeSweep::tangent));
  plan[static_cast<std::size_t>(node)].tangent = {7, 11};  // tokens 1 and 2
  EXPECT_TRUE(z.reaches_nodes(plan, &NodeSweep::tangent));
  EXPECT_TRUE(z.is_any_in(plan, &NodeSweep::tangent));
  EXPECT_FALSE(z.is_any_in(plan, &NodeSweep::adjoint));
  for (int t = 0; t < first.positions; ++t) {
    EXPECT_EQ(z.is_any_in(plan, t, &NodeSweep::tangent), t == 1 || t == 2) << t;
  }
}

}  // namespace
}  // namespace hesscope::detail
