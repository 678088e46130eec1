// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks together compute what one process computes, to the last bit. Numbers of ranks that are not
// powers of two are the better test: with two or four, another order of sums may give the same by
// chance.
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/models/attention.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>
#include <hesscope/models/model.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/objective/team_service.h>

#include "support/numbers.h"
#include "support/thread_team.h"

namespace hesscope {
namespace {

using Eigen::Index;

struct TeamCase {
  std::string name;
  std::function<Model()> model;
  Index rows = 300;
  bool use_structure = true;
};

void PrintTo(const TeamCase& team_case, std::ostream* out) { *out << team_case.name; }

// All that an objective can be asked, one number after the other.
std::vector<double> answers_of(const Objective& objective, const Eigen::VectorXd& theta) {
  std::vector<double> all;
  const auto add = [&](const auto& numbers) {
    all.insert(all.end(), numbers.data(), numbers.data() + numbers.size());
  };
  const Index last = objective.num_samples();
  for (const SampleRange range : {objective.all_samples(), SampleRange{5, last - 3}, {7, 8}}) {
    all.push_back(objective.value(theta, range));
    const auto found = objective.value_and_gradient(theta, range);
    all.push_back(found.value);
    add(found.gradient);
    const Eigen::MatrixXd v = test::Numbers(9).table(theta.size(), 11);
    add(objective.hessian_times(theta, v, range));
    add(objective.hessian(theta, range, {}));
    if (objective.has_third_derivatives()) {
      add(objective.third_derivative_times(theta, v, v.rowwise().reverse(), range));
      add(objective.line_derivatives(theta, v, range));
    }
    add(objective.per_sample_gradients(theta, range));
    const Eigen::MatrixXd own = test::Numbers(10).table(theta.size(), range.size());
    add(objective.per_sample_hessian_times(theta, own, range));
    if (!objective.has_gauss_newton()) continue;
    add(objective.gauss_newton_times(theta, v, range));
    add(objective.gauss_newton(theta, range, {}));
    add(objective.predictions(theta, range));
    add(objective.prediction_jacobian(theta, range));
  }
  return all;
}

class TeamObjectiveTest : public testing::TestWithParam<TeamCase> {
 protected:
  // body(objective) on the first of `size` ranks; the others serve.
  void lead(int size, const std::function<void(const GraphObjective&)>& body) const {
    test::on_ranks(size, [&](const std::shared_ptr<Team>& team) {
      const auto own = std::make_shared<const GraphObjective>(
          GetParam().model(),
          samples_,
          GraphObjective::Options{.num_threads = 1 + team->rank() % 2,
                                  .use_structure = GetParam().use_structure,
                                  .team = team,
                                  .team_number = 3});
      if (team->rank() > 0) {
        return serve(*team, [&](std::int64_t number) {
          EXPECT_EQ(number, 3);
          return own;
        });
      }
      body(*own);
      end_service(*team);
    });
  }

  const Model model_ = GetParam().model();
  SampleTable samples_ = test::Numbers(5).table(GetParam().rows, model_.record_size());
  const Eigen::VectorXd theta_ = 0.3 * test::Numbers(6).vector(model_.num_parameters());
};

TEST_P(TeamObjectiveTest, GivesTheSameBitsOnAnyNumberOfRanks) {
  const std::vector<double> expected =
      answers_of(GraphObjective(GetParam().model(),
                                samples_,
                                {.num_threads = 2, .use_structure = GetParam().use_structure}),
                 theta_);
  for (const double number : expected) ASSERT_TRUE(std::isfinite(number));
  for (const int size : {1, 2, 3, 5, 7}) {
    lead(size, [&](const GraphObjective& objective) {
      const std::vector<double> found = answers_of(objective, theta_);
      EXPECT_EQ(found.size(), expected.size());
      EXPECT_TRUE(found == expected) << size << " ranks";
    });
  }
}

TEST_P(TeamObjectiveTest, TakesCallsOfSeveralThreads) {
  const GraphObjective alone(
      GetParam().model(), samples_, {.num_threads = 1, .use_structure = GetParam().use_structure});
  const auto point = [&](Index i) -> Eigen::VectorXd {
    return theta_ * (1.0 + 0.01 * static_cast<double>(i));
  };
  lead(3, [&](const GraphObjective& objective) {
    std::vector<double> found(12);
    Executor(4).for_each(std::ssize(found), [&](Index i) {
      found[static_cast<std::size_t>(i)] = objective.value(point(i));
    });
    for (Index i = 0; i < std::ssize(found); ++i) {
      EXPECT_EQ(found[static_cast<std::size_t>(i)], alone.value(point(i)));
    }
    objective.executor().for_each(std::ssize(found), [&](Index i) {
      found[static_cast<std::size_t>(i)] = objective.value(point(-i));
    });
    for (Index i = 0; i < std::ssize(found); ++i) {
      EXPECT_EQ(found[static_cast<std::size_t>(i)], alone.value(point(-i)));
    }
  });
}

TEST_P(TeamObjectiveTest, IsAsGoodAsBeforeAfterAnInterruption) {
  const GraphObjective alone(
      GetParam().model(), samples_, {.num_threads = 1, .use_structure = GetParam().use_structure});
  lead(3, [&](const GraphObjective& objective) {
    EXPECT_THROW(objective.hessian(theta_, objective.all_samples(), [](double) { return false; }),
                 Interrupted);
    EXPECT_THROW(objective.value(theta_, {3, 3}), PreconditionError);
    EXPECT_EQ(objective.value(theta_), alone.value(theta_));
  });
}

Model small_mlp() { return mlp({.widths = {3, 9, 7, 2}, .loss = MlpLoss::kMeanSquaredError}); }

Model linear_attention_of(
    std::int64_t layers,
    std::int64_t dimension,
    LinearAttentionParametrization parametrization = LinearAttentionParametrization::kFull) {
  return linear_attention(
      {.layers = layers, .dimension = dimension, .context = 6, .parametrization = parametrization});
}

INSTANTIATE_TEST_SUITE_P(
    Models,
    TeamObjectiveTest,
    testing::Values(
        TeamCase{"Mlp", small_mlp},
        TeamCase{"MlpByItsGraph",
                 [] {
                   Model model = small_mlp();
                   model.structured_hessian = nullptr;
                   return model;
                 },
                 700},
        TeamCase{"MlpByTheGenericEngine", small_mlp, 300, false},
        TeamCase{"MlpWithDecay",
                 [] {
                   Model model = small_mlp();
                   model.weight_decay = 0.1;
                   return model;
                 },
                 200},
        TeamCase{"Attention",
                 [] {
                   return attention(
                       {.heads = 2, .embedding = 4, .head_dimension = 2, .sequence = 3});
                 },
                 200},
        TeamCase{"LinearAttention", [] { return linear_attention_of(3, 2); }, 400},
        // Whose H is too large to be summed in several pieces.
        TeamCase{"LargeLinearAttention", [] { return linear_attention_of(2, 13); }, 20},
        TeamCase{"LargeSparseLinearAttention",
                 [] { return linear_attention_of(3, 12, LinearAttentionParametrization::kSparse); },
                 10},
        TeamCase{"LargeLinearAttentionOfOneLayer", [] { return linear_attention_of(1, 19); }, 10},
        TeamCase{
            "LargeSplitLinearAttention",
            [] { return linear_attention_of(2, 13, LinearAttentionParametrization::kSplitQk); },
            10}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace hesscope
