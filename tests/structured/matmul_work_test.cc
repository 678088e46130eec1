// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <hesscope/structured/internal/graph/matmul_work.h>

namespace hesscope::detail {
namespace {

// Node 2 is the product of nodes 0 and 1.
double work_of(const Graph& graph, NodeSweep own, NodeSweep a, NodeSweep b) {
  return matmul_work(graph.nodes(), 2, own, a, b);
}

TEST(MatmulWork, CountsEachWay) {
  Graph g;
  matmul(g.input(0, 2, 3), g.parameter(0, 3, 4));
  const NodeSweep none;
  const NodeSweep all_a{{0, 6}, {0, 6}};
  const NodeSweep all_b{{0, 12}, {0, 12}};
  const NodeSweep all{{0, 8}, {0, 8}};
  EXPECT_EQ(work_of(g, all, all_a, none), 2 * 24);   // dA B and dCbar B^T
  EXPECT_EQ(work_of(g, all, none, all_b), 2 * 24);   // A dB and A^T dCbar
  EXPECT_EQ(work_of(g, all, all_a, all_b), 6 * 24);  // and Cbar dB^T, dA^T Cbar
  // The second row of A alone: one of two rows of C.
  EXPECT_EQ(work_of(g, {{4, 8}, {}}, {{3, 6}, {}}, none), 12);
  // Adjoints of C's first row reach A's first row, and all of B.
  EXPECT_EQ(work_of(g, {{}, {0, 4}}, {{}, {0, 3}}, {{}, {0, 12}}), 12 + 12);
}

TEST(MatmulWork, CountsRowsThatAreStored) {
  Graph g;
  matmul_nt(g.input(0, 2, 3), g.parameter(0, 4, 3));
  // One of four rows of the stored B is one column.
  EXPECT_EQ(work_of(g, {{0, 8}, {}}, {}, {{3, 6}, {}}), 2 * 3);
  Graph stack;
  stacked_matmul(stack.input(0, 4, 3), stack.parameter(0, 3, 5), {.stack = 2, .is_shared_b = true});
  EXPECT_EQ(work_of(stack, {{0, 20}, {}}, {}, {{0, 15}, {}}), 4 * 3 * 5);  // in both products
  EXPECT_EQ(work_of(stack, {{10, 20}, {}}, {}, {{0, 15}, {}}), 2 * 3 * 5);
}

}  // namespace
}  // namespace hesscope::detail
