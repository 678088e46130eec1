// SPDX-License-Identifier: BSD-3-Clause
//
// Costs and progress of the work at a point, by processor time: other programs on the machine
// hardly change it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/analysis/internal/analysis_costs.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/models/mlp.h>
#include <hesscope/objective/graph_objective.h>

#include "support/cost_ratio.h"
#include "support/numbers.h"
#include "support/progress_shares.h"

namespace hesscope {
namespace {

using detail::AnalysisCosts;
using detail::ChosenAnalyzer;

struct Size {
  std::int64_t width;
  Eigen::Index num_samples;
};

// A perceptron on one thread, and analyzers of it.
class Work {
 public:
  explicit Work(Size size, std::vector<std::string> only = {})
      : model_(mlp({.widths = {2, size.width, size.width, 3}, .loss = MlpLoss::kMeanSquaredError})),
        objective_(model_,
                   test::Numbers(1).table(size.num_samples, model_.record_size()),
                   {.num_threads = 1}),
        theta_(0.1 * test::Numbers(2).vector(model_.num_parameters())),
        analyzers_(detail::choose_analyzers(only, {}, {})) {}

  detail::ForeseenAnalysis foreseen(SpectrumMethod method = SpectrumMethod::kAuto) const {
    return {.objective = &objective_, .theta = &theta_, .method = method, .analyzers = analyzers_};
  }

  AnalysisCosts measured(SpectrumMethod method = SpectrumMethod::kAuto) const {
    return measured_costs(foreseen(method), processor_seconds);
  }

  // What a run does at a checkpoint.
  void run(const AnalysisCosts& costs,
           SpectrumMethod method = SpectrumMethod::kAuto,
           const ProgressCallback& progress = {}) const {
    PointAnalysis point(
        objective_, theta_, {.method = method, .progress = progress, .costs = costs.point});
    EXPECT_TRUE(std::isfinite(point.loss()));
    for (std::size_t k = 0; k < analyzers_.size(); ++k) {
      point.begin_own(costs.own[k]);
      analyzers_[k].analyzer->analyze(point);
    }
    point.release();
  }

 private:
  Model model_;
  GraphObjective objective_;
  Eigen::VectorXd theta_;
  std::vector<ChosenAnalyzer> analyzers_;
};

class AnalysisCostsOf : public ::testing::TestWithParam<Size> {};

TEST_P(AnalysisCostsOf, AreForeseenWithinAFactor) {
  const Work work(GetParam());
  AnalysisCosts costs;
  const double ratio = test::cost_ratio(
      [&] {
        costs = work.measured();
        return costs.seconds();
      },
      [&] { work.run(costs); });
  EXPECT_GT(ratio, 1 / test::kCostFactor);
  EXPECT_LT(ratio, test::kCostFactor);
}

// 641, 1,713 and 2,853 parameters: decompositions that are measured whole, from stages of a small
// one in one stage, and in two.
INSTANTIATE_TEST_SUITE_P(Sizes,
                         AnalysisCostsOf,
                         ::testing::Values(Size{22, 12000}, Size{38, 3000}, Size{50, 1000}));

TEST(AnalysisProgressAtAPoint, IsInProportionToTheTime) {
  const Work work({38, 3000});
  constexpr double kMostDeviation = 0.25;
  constexpr double kMostSilence = 0.2;
  const test::ProgressShares shares = test::progress_shares_of(kMostDeviation, kMostSilence, [&] {
    return [&, costs = work.measured()](const ProgressCallback& callback) {
      work.run(costs, SpectrumMethod::kDense, callback);
    };
  });
  EXPECT_LT(shares.deviation, kMostDeviation);
  EXPECT_LT(shares.silence, kMostSilence);
  EXPECT_GT(shares.last, 0.8);
}

TEST(AnalysisProgressAtAPoint, GoesOnWithoutAMatrix) {
  const Work work({40, 600}, {"spectrum", "density", "ggn"});
  constexpr double kMostDeviation = 0.35;  // nobody knows how many products a search takes
  constexpr double kMostSilence = 0.1;
  const test::ProgressShares shares = test::progress_shares_of(kMostDeviation, kMostSilence, [&] {
    const AnalysisCosts costs = work.measured(SpectrumMethod::kMatrixFree);
    EXPECT_EQ(costs.point.hessian, 0);
    return [&, costs](const ProgressCallback& callback) {
      work.run(costs, SpectrumMethod::kMatrixFree, callback);
    };
  });
  EXPECT_LT(shares.deviation, kMostDeviation);
  EXPECT_LT(shares.silence, kMostSilence);
  EXPECT_GT(shares.last, 0.7);
}

TEST(AnalysisCostsOf, AreOfWhatIsAskedFor) {
  const Size size{12, 200};
  const AnalysisCosts hessian = Work(size, {"hessian"}).measured();
  EXPECT_GT(hessian.point.hessian, 0);
  EXPECT_EQ(hessian.point.spectrum, 0);
  const AnalysisCosts terms = Work(size, {"tangent-kernel"}).measured();
  EXPECT_EQ(terms.point.hessian, 0);
  EXPECT_EQ(terms.point.spectrum, 0);
  EXPECT_GT(terms.point.own, 0);
  const AnalysisCosts sampling = Work(size, {"sampling"}).measured();
  EXPECT_GT(sampling.point.own, 10 * hessian.point.hessian);  // a jackknife over blocks
  const AnalysisCosts guessed = detail::guessed_costs(Work(size).foreseen());
  EXPECT_GT(guessed.seconds(), 0);
  EXPECT_LT(guessed.seconds(), 5);
}

TEST(ProgressMeter, AddsUpPartsByTheirCosts) {
  std::vector<double> heard;
  ProgressMeter meter(
      [&](double fraction) {
        heard.push_back(fraction);
        return fraction < 0.9;
      },
      10);
  {
    const ProgressMeter::Part own(meter, 4);
    EXPECT_TRUE(own.progress()(0.5));  // 2 of 10
    {
      const ProgressMeter::Part shared(meter, 5);  // within the other
      EXPECT_TRUE(shared.progress()(0.2));         // and 1
    }
    EXPECT_TRUE(own.progress()(0.25));  // 5 and 1, less than 7 would be
  }
  const ProgressMeter::Part beyond(meter, 100);  // more than was foreseen
  EXPECT_FALSE(beyond.progress()(0.5));
  EXPECT_EQ(heard, (std::vector<double>{0.2, 0.3, 0.6, 1.0}));
  ProgressMeter silent({}, 1);
  EXPECT_FALSE(ProgressMeter::Part(silent, 1).progress());
}

}  // namespace
}  // namespace hesscope
