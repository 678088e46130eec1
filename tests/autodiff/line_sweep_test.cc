// SPDX-License-Identifier: BSD-3-Clause
//
// A LineSweep of every instruction set, against 50 digits and against the other sweeps.
#include <cmath>
#include <string>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/autodiff/line_sweep.h>

#include "autodiff/sweep_models.h"
#include "support/graph_oracle.h"
#include "support/instruction_sets.h"
#include "support/numbers.h"
#include "support/refusal.h"
#include "support/sweep_derivatives.h"

namespace hesscope {
namespace {

using LineSweepOf = testing::TestWithParam<InstructionSet>;

INSTANTIATE_TEST_SUITE_P(InstructionSets,
                         LineSweepOf,
                         test::instruction_sets(),
                         test::instruction_set_name);

TEST_P(LineSweepOf, EveryDerivativeIsThatOfFiftyDigits) {
  constexpr Eigen::Index kLines = LineSweep::kMaxLines + 1;  // a full sweep, and one further line
  for (const Model& model : test::sweep_models()) {
    const Eigen::Index n = model.num_parameters();
    const Eigen::VectorXd theta = test::Numbers(5).vector(n);
    const Eigen::MatrixXd v = test::Numbers(14).table(n, kLines);
    for (const Eigen::Index count : {1, 3, 8, 9}) {
      SCOPED_TRACE(model.kind + ", samples: " + std::to_string(count));
      const SampleTable samples = test::Numbers(6).table(count, model.record_size());
      const auto along = [&](const Eigen::MatrixXd& directions) {
        return test::line_derivatives_from_sweep(
            *model.graph, theta, samples, directions, LineSweep::kMaxLines, GetParam());
      };
      const Eigen::MatrixXd lines = along(v);
      EXPECT_GT(lines.row(4).cwiseAbs().minCoeff<Eigen::PropagateNaN>(), 1e-6);
      test::expect_near_rows(lines,
                             multiprecision_line_derivatives(
                                 *model.graph, test::span_of(theta), test::records_of(samples), v),
                             1e-12,
                             "50 digits");
      // Homogeneous: order p is of degree p, and powers of two are exact.
      const Eigen::MatrixXd scaled = along(-2 * v);
      for (Eigen::Index p = 0; p <= LineSweep::kOrder; ++p) {
        EXPECT_EQ(scaled.row(p), std::pow(-2.0, static_cast<double>(p)) * lines.row(p)) << p;
      }
      // Neighbours on other lines change nothing.
      EXPECT_EQ(along(v.col(2)), lines.col(2));
    }
  }
}

TEST_P(LineSweepOf, LowerOrdersAreThoseOfTheOtherSweeps) {
  for (const Model& model : test::sweep_models()) {
    SCOPED_TRACE(model.kind);
    const Eigen::Index n = model.num_parameters();
    const Eigen::VectorXd theta = test::Numbers(5).vector(n);
    const Eigen::MatrixXd v = test::Numbers(14).table(n, 3);
    const SampleTable samples = test::Numbers(6).table(9, model.record_size());
    const test::Derivatives d = test::from_sweep(*model.graph, theta, samples);
    const Eigen::MatrixXd T =
        test::third_derivatives_from_sweep(*model.graph, theta, samples, v, v);
    Eigen::MatrixXd expected(4, 3);
    for (Eigen::Index k = 0; k < 3; ++k) {
      expected.col(k) << d.value, d.gradient.dot(v.col(k)), v.col(k).dot(d.hessian * v.col(k)),
          v.col(k).dot(T.col(k));
    }
    const Eigen::MatrixXd lines = test::line_derivatives_from_sweep(
        *model.graph, theta, samples, v, LineSweep::kMaxLines, GetParam());
    test::expect_near_rows(lines.topRows(4), expected, 1e-12, "the other sweeps");
  }
}

TEST_P(LineSweepOf, ALossThatNoParameterEntersIsConstant) {
  Graph g;
  g.parameter(0, 1, 1);
  g.set_output(square(g.input(0, 1, 1)));
  const Eigen::VectorXd one = Eigen::VectorXd::Ones(1);
  const Eigen::MatrixXd lines =
      test::line_derivatives_from_sweep(g, one, SampleTable::Constant(3, 1, 2), one, 1, GetParam());
  Eigen::VectorXd expected = Eigen::VectorXd::Zero(5);
  expected(0) = 4;
  EXPECT_EQ(lines, expected);
}

TEST_P(LineSweepOf, WorkspaceIsCountedForItsLanes) {
  const Model model = test::sweep_models().front();
  EXPECT_GT(LineSweep::workspace_bytes(*model.graph, GetParam()),
            LineSweep::kMaxLines * LineSweep::kOrder * sizeof(double));
  EXPECT_LE(LineSweep::workspace_bytes(*model.graph, InstructionSet::kBaseline),
            LineSweep::workspace_bytes(*model.graph, GetParam()));
}

TEST(LineSweep, RefusesAGraphWithoutAnOutput) {
  test::expect_refusal([] { LineSweep::create(Graph()); }, "LineSweep: the graph has no output");
}

}  // namespace
}  // namespace hesscope
