// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/structured/internal/graph/idle_entries.h>
#include <hesscope/structured/internal/graph/parameter_uses.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// 1 for an idle entry, row by row.
MatrixXd idle_of(const Graph& graph, Var a) {
  const EntryNumbers entries(graph);
  const IdleEntries idle(graph, entries, find_parameter_uses(graph, entries).varies);
  MatrixXd marks(a.rows(), a.cols());
  for (int e = 0; e < marks.size(); ++e) {
    marks(e / a.cols(), e % a.cols()) = idle.is_idle(a.node(), e) ? 1 : 0;
  }
  return marks;
}

MatrixXd upper(Index n) {
  MatrixXd mask = MatrixXd::Zero(n, n);
  for (Index i = 0; i < n; ++i) mask.row(i).tail(n - 1 - i).setOnes();
  return mask;
}

TEST(IdleEntries, AreNoneWithoutAMask) {
  Graph g;
  const Var x = matmul(g.input(0, 3, 3), g.parameter(0, 3, 3));
  const Var p = softmax_rows(matmul_nt(x, x) + g.constant(MatrixXd::Ones(3, 3)));
  g.set_output(sum(square(matmul(p, x))));
  for (const Var a : {x, p}) EXPECT_EQ(idle_of(g, a), MatrixXd::Zero(3, 3));
}

TEST(IdleEntries, AreScoresThatSoftmaxIsZeroAt) {
  Graph g;
  const Var x = matmul(g.input(0, 3, 3), g.parameter(0, 3, 3));
  const Var raw = matmul_nt(x, x);
  const Var masked =
      raw + g.constant((upper(3).array() > 0).select(-kInfinity, MatrixXd::Zero(3, 3)));
  const Var p = softmax_rows(0.5 * masked);
  g.set_output(sum(square(matmul(p, x))));
  for (const Var a : {raw, masked, p}) EXPECT_EQ(idle_of(g, a), upper(3));
  EXPECT_EQ(idle_of(g, x), MatrixXd::Zero(3, 3));
}

TEST(IdleEntries, AreStandardizedRowsThatNothingTakes) {
  Graph g;
  const Var x = matmul(g.input(0, 3, 2), g.parameter(0, 2, 2));
  g.set_output(sum(square(slice(standardize_rows(x, 0.1), 2, 0, 1, 1))));
  EXPECT_EQ(idle_of(g, x), (MatrixXd(3, 2) << 1, 1, 1, 1, 0, 0).finished());
}

TEST(IdleEntries, AreWhatNothingTakes) {
  Graph g;
  const Var x = matmul(g.input(0, 3, 2), g.parameter(0, 2, 2));
  const Var y = tanh(x);
  const MatrixXd choice = (MatrixXd(1, 2) << 1, 0).finished();
  const Var last = slice(y, 2, 0, 1, 2);
  g.set_output(sum(select(g.constant(choice), last, g.constant(MatrixXd::Ones(1, 2)))));
  const MatrixXd all_but_one = (MatrixXd(3, 2) << 1, 1, 1, 1, 0, 1).finished();
  EXPECT_EQ(idle_of(g, y), all_but_one);
  EXPECT_EQ(idle_of(g, x), all_but_one);
}

// What this does not compute of constants (a sine) is neither below another number nor equal to it.
TEST(IdleEntries, AreNotWhatUnknownConstantsDecideOn) {
  for (const bool is_equal : {false, true}) {
    Graph g;
    const Var x = matmul(g.input(0, 2, 2), g.parameter(0, 2, 2));
    const Var sine = sin(g.constant(MatrixXd::Constant(2, 2, 0.5)));
    const Var is_so = is_equal ? equal(sine, sine) : less(sine, g.constant(MatrixXd::Ones(2, 2)));
    const Var chosen = select(is_so, x, g.constant(MatrixXd::Zero(2, 2)));
    g.set_output(sum(square(chosen)) + sum(hadamard(is_so, x)));
    for (const Var a : {x, chosen}) EXPECT_EQ(idle_of(g, a), MatrixXd::Zero(2, 2));
  }
}

TEST(IdleEntries, AreWhatIsCutOff) {
  Graph g;
  const Var x = matmul(g.input(0, 2, 2), g.parameter(0, 2, 2));
  g.set_output(sum(square(slice(x, 1, 0, 1, 2))));
  EXPECT_EQ(idle_of(g, x), (MatrixXd(2, 2) << 1, 1, 0, 0).finished());
}

// A comparison may depend on whether a number that is multiplied by zero is finite: that the
// product would be zero if it were finite proves nothing.
TEST(IdleEntries, AreNotWhatDependsOnNumbersThatAreNotFinite) {
  Graph g;
  const Var x = matmul(g.input(0, 2, 2), g.parameter(0, 2, 2));
  const Var h = hadamard(reciprocal(g.input(4, 2, 2)), g.constant(MatrixXd::Zero(2, 2)));
  const Var y = select(equal(h, h), g.constant(MatrixXd::Ones(2, 2)), x);  // x where h is NaN
  g.set_output(sum(square(y)));
  for (const Var a : {x, y}) EXPECT_EQ(idle_of(g, a), MatrixXd::Zero(2, 2));
}

// Zeros times anything: of both operands of a product, and entry by entry.
TEST(IdleEntries, AreMultipliedByZeros) {
  Graph g;
  const Var x = matmul(g.input(0, 3, 3), g.parameter(0, 3, 3));
  const Var kept = hadamard(x, g.constant(MatrixXd(1 - upper(3).array())));
  const Var y = tanh(g.parameter(9, 3, 2));
  g.set_output(sum(square(matmul(slice(kept, 0, 0, 1, 3), y))));
  const MatrixXd first_alone = (MatrixXd(3, 3) << 0, 1, 1, 1, 1, 1, 1, 1, 1).finished();
  EXPECT_EQ(idle_of(g, kept), first_alone);
  EXPECT_EQ(idle_of(g, x), first_alone);
  EXPECT_EQ(idle_of(g, y), (MatrixXd(3, 2) << 0, 0, 1, 1, 1, 1).finished());
}

// A row without any score is NaN: nothing is known about it.
TEST(IdleEntries, AreNotRowsThatAreMaskedWhole) {
  Graph g;
  const Var x = matmul(g.input(0, 2, 2), g.parameter(0, 2, 2));
  const MatrixXd mask = (MatrixXd(2, 2) << -kInfinity, -kInfinity, 0, -kInfinity).finished();
  const Var p = softmax_rows(x + g.constant(mask));
  g.set_output(sum(square(p)));
  EXPECT_EQ(idle_of(g, p), (MatrixXd(2, 2) << 0, 0, 0, 1).finished());
}

}  // namespace
}  // namespace hesscope::detail
