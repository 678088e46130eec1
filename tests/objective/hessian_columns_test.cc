// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/models/mlp.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/objective/team_service.h>

#include "support/numbers.h"
#include "support/quadratic_objective.h"
#include "support/thread_team.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

Model model_with_decay() {
  Model model = mlp({.widths = {3, 9, 7, 2}, .loss = MlpLoss::kMeanSquaredError});
  model.weight_decay = 0.1;
  return model;
}

void expect_lower_columns(const MatrixXd& columns, const MatrixXd& h, Index first, Index width) {
  ASSERT_EQ(columns.rows(), h.rows() - first);
  ASSERT_EQ(columns.cols(), width);
  for (Index k = 0; k < width; ++k) {
    for (Index i = k; i < columns.rows(); ++i) {
      ASSERT_EQ(columns(i, k), h(first + i, first + k)) << i << " " << k;
    }
  }
}

TEST(HessianColumns, AreThoseOfTheGenericEngineToTheLastBit) {
  const Model model = model_with_decay();
  const SampleTable samples = test::Numbers(5).table(200, model.record_size());
  const Index n = model.num_parameters();
  const Eigen::VectorXd theta = 0.3 * test::Numbers(6).vector(n);
  const GraphObjective generic(model, samples, {.num_threads = 2, .use_structure = false});
  const GraphObjective by_structure(model, samples, {.num_threads = 1});
  const MatrixXd h = generic.hessian(theta);
  ASSERT_EQ(Objective::kColumnGroup, 8);
  for (const Index width : {8, 16, 24}) {
    for (Index first = 0; first + width <= n; first += 16) {
      const auto of = [&](const Objective& objective) {
        return objective.hessian_columns(theta, objective.all_samples(), first, width);
      };
      expect_lower_columns(of(generic), h, first, width);
      expect_lower_columns(of(by_structure), h, first, width);
    }
  }
  // The last group may be smaller.
  expect_lower_columns(
      generic.hessian_columns(theta, generic.all_samples(), n - n % 8, n % 8), h, n - n % 8, n % 8);
}

TEST(HessianColumns, OfAnyObjectiveAreProducts) {
  MatrixXd h = test::Numbers(5).table(21, 21);
  h = MatrixXd(h + h.transpose());
  const test::QuadraticObjective objective({h});
  const Eigen::VectorXd theta = Eigen::VectorXd::Zero(21);
  expect_lower_columns(objective.hessian_columns(theta, {0, 1}, 8, 13), h, 8, 13);
  EXPECT_THROW(objective.hessian_columns(theta, {0, 1}, 8, 14), PreconditionError);
  EXPECT_THROW(objective.hessian_columns(theta, {0, 1}, -1, 2), PreconditionError);
  EXPECT_THROW(objective.hessian_columns(theta, {0, 1}, 3, 0), PreconditionError);
}

TEST(WithRanks, CallsWhatTheOthersServeWith) {
  const Model model = model_with_decay();
  const SampleTable samples = test::Numbers(5).table(200, model.record_size());
  const Eigen::VectorXd theta = test::Numbers(6).vector(model.num_parameters());
  std::vector<int> served(3, 0);
  test::on_ranks(3, [&](const std::shared_ptr<Team>& team) {
    const auto own = std::make_shared<const GraphObjective>(
        model, samples, GraphObjective::Options{.num_threads = 1, .team = team});
    const auto rank = static_cast<std::size_t>(team->rank());
    if (rank > 0) {
      return serve(
          *team,
          [&](std::int64_t) { return own; },
          [&](const Objective& objective, const Eigen::VectorXd& point, SampleRange range) {
            EXPECT_EQ(&objective, own.get());
            EXPECT_TRUE(point == theta);
            EXPECT_EQ(range.end, 150);
            ++served[rank];
          });
    }
    own->with_ranks(theta, {7, 150}, [&] { ++served[rank]; });
    EXPECT_THROW(own->with_ranks(theta, {7, 150}, [] { throw InputError("no"); }), InputError);
    end_service(*team);
  });
  EXPECT_EQ(served, std::vector<int>({1, 2, 2}));
}

}  // namespace
}  // namespace hesscope
