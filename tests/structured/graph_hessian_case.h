// SPDX-License-Identifier: BSD-3-Clause
//
// Compares the Hessian by a graph's structure with that of the plain tape.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/sweep.h>
#include <hesscope/core/executor.h>
#include <hesscope/structured/graph_hessian.h>

#include "support/numbers.h"
#include "support/thread_team.h"

namespace hesscope::test {

/// Relative to the norm of H.
inline constexpr double kSiteTolerance = 1e-13;

inline Var squared_norm(Var a) { return sum(square(a)); }

/// A perceptron of these widths from offset 0 on, tanh between.
inline Var perceptron(Graph& g,
                      Var x,
                      const std::vector<Eigen::Index>& widths,
                      Eigen::Index& offset) {
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    const Var w = g.parameter(offset, widths[l + 1], widths[l]);
    offset += widths[l] * widths[l + 1];
    const Var b = g.parameter(offset, widths[l + 1], 1);
    offset += widths[l + 1];
    x = matmul(w, x) + b;
    if (l + 2 < widths.size()) x = tanh(x);
  }
  return x;
}

inline Eigen::MatrixXd by_tape(const Graph& graph,
                               const Eigen::VectorXd& theta,
                               const std::vector<double>& samples,
                               Eigen::Index count) {
  const Eigen::Index n = graph.num_parameters();
  const Records records{samples.data(), count, graph.record_size()};
  const auto sweep = Sweep::create(graph);
  Eigen::MatrixXd h(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    Eigen::VectorXd direction = Eigen::VectorXd::Unit(n, j);
    Eigen::VectorXd product = Eigen::VectorXd::Zero(n);
    const auto size = static_cast<std::size_t>(n);
    sweep->hessian_times(
        {theta.data(), size}, records, {direction.data(), size}, 1, {product.data(), size});
    h.col(j) = product / static_cast<double>(count);
  }
  return h;
}

inline Eigen::MatrixXd by_structure(const std::shared_ptr<const Graph>& graph,
                                    const Eigen::VectorXd& theta,
                                    const std::vector<double>& samples,
                                    Eigen::Index count,
                                    InstructionSet set,
                                    const Executor& executor) {
  const auto hessian = graph_hessian(graph, set);
  EXPECT_NE(hessian, nullptr);
  const Eigen::Index n = graph->num_parameters();
  Eigen::MatrixXd h(n, n);
  const bool is_finite = hessian->mean({theta.data(), static_cast<std::size_t>(n)},
                                       {samples.data(), count, graph->record_size()},
                                       executor,
                                       {},
                                       h);
  EXPECT_EQ(is_finite, h.allFinite());
  return h;
}

/// For every instruction set, one thread and two, and columns divided among ranks.
inline void expect_equals_the_plain_tape(const std::shared_ptr<const Graph>& graph) {
  const Eigen::Index n = graph->num_parameters();
  const Eigen::Index count = 21;
  const Eigen::VectorXd theta = 0.7 * Numbers(3).vector(n);
  const Eigen::VectorXd numbers = Numbers(4).vector(count * graph->record_size());
  const std::vector<double> samples(numbers.begin(), numbers.end());
  const Eigen::MatrixXd expected = by_tape(*graph, theta, samples, count);
  ASSERT_TRUE(expected.norm() > 0);
  for (const InstructionSet set : supported_instruction_sets()) {
    SCOPED_TRACE(name_of(set));
    const Eigen::MatrixXd actual = by_structure(graph, theta, samples, count, set, Executor(2));
    EXPECT_EQ(actual, actual.transpose().eval());
    const double error = (actual - expected).norm();
    EXPECT_TRUE(error <= kSiteTolerance * expected.norm()) << error << " of " << expected.norm();
    EXPECT_EQ(actual, by_structure(graph, theta, samples, count, set, Executor(1)));
  }
  // By ranks, which have columns each.
  const InstructionSet best = best_instruction_set();
  const Eigen::MatrixXd alone = by_structure(graph, theta, samples, count, best, Executor(1));
  for (const int size : {2, 3, 5}) {
    on_ranks(size, [&](const std::shared_ptr<Team>& team) {
      team->call([] {},
                 [&] {
                   const Executor executor = Executor(1).with(team.get());
                   EXPECT_EQ(by_structure(graph, theta, samples, count, best, executor), alone)
                       << team->place() << " of " << size;
                 });
    });
  }
}

}  // namespace hesscope::test
