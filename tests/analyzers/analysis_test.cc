// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analyzers/analysis.h>
#include <hesscope/core/error.h>
#include <hesscope/objective/objective.h>

#include "support/files.h"

namespace hesscope {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

namespace fs = std::filesystem;

const fs::path kData = fs::path(HESSCOPE_TEST_DATA) / "linear-attention";

class Analysis : public ::testing::Test {
 protected:
  Analysis() {
    request_.checkpoints = expand_checkpoints({kData / "adam"});
    request_.problem = kData / "problem.toml";
    request_.output = folder_ / "result.h5";
    request_.num_threads = 2;
    request_.command = "a test";
  }

  std::vector<std::string> left_behind() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  test::ScratchFolder folder_;
  AnalysisRequest request_;
};

TEST_F(Analysis, SummarizesEveryCheckpointAndWritesOneFile) {
  const AnalysisResult result = run_analysis(request_);
  ASSERT_EQ(result.checkpoints.size(), 5U);
  EXPECT_TRUE(result.is_conclusive);
  EXPECT_THAT(result.warnings, IsEmpty());
  EXPECT_THAT(left_behind(), ElementsAre("result.h5"));
  for (const CheckpointSummary& summary : result.checkpoints) {
    EXPECT_EQ(summary.status, Status::kOk);
    EXPECT_GT(summary.loss, 0);
    EXPECT_GT(summary.gradient_norm, 0);
    EXPECT_EQ(summary.sha256.size(), 64U);
    EXPECT_EQ(summary.numbers.size(), result.checkpoints.front().numbers.size());
  }
  EXPECT_EQ(result.checkpoints[3].checkpoint.step, 1499);
  EXPECT_GT(result.timings.hessian_seconds, 0);
  EXPECT_GE(result.timings.total_seconds, result.timings.hessian_seconds);
}

TEST_F(Analysis, AZeroMedianIsAConclusion) {
  request_.checkpoints.resize(1);  // at initialisation the median eigenvalue is zero
  request_.only = {"condition"};
  const AnalysisResult result = run_analysis(request_);
  EXPECT_TRUE(result.is_conclusive);
  const HeadlineNumber& ratio = result.checkpoints[0].numbers.at(1);
  EXPECT_EQ(ratio.name, "robust_eigenvalue");
  EXPECT_TRUE(std::isnan(ratio.value));
  EXPECT_EQ(ratio.status, Status::kUndefinedZeroMedian);
}

TEST_F(Analysis, StopsWhenProgressSaysSoAndLeavesNothing) {
  for (const std::size_t stop_at : {0U, 2U}) {
    std::size_t last = 0;
    const auto progress = [&](std::size_t index, std::size_t count, double fraction) {
      EXPECT_EQ(count, 5U);
      EXPECT_GE(fraction, 0);
      EXPECT_LE(fraction, 1);
      last = index;
      return index < stop_at;
    };
    EXPECT_THROW(run_analysis(request_, progress), Interrupted);
    EXPECT_EQ(last, stop_at);
    EXPECT_THAT(left_behind(), IsEmpty());
  }
}

TEST_F(Analysis, StopsInsideAHessian) {
  request_.checkpoints.resize(1);
  int calls = 0;
  const auto progress = [&](std::size_t, std::size_t, double fraction) {
    ++calls;
    return fraction == 0 && calls < 2;
  };
  EXPECT_THROW(run_analysis(request_, progress), Interrupted);
  EXPECT_EQ(calls, 2);
  EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(Analysis, ProgressGoesForwardToTheEnd) {
  double last = 0;
  run_analysis(request_, [&](std::size_t index, std::size_t, double fraction) {
    const double done = static_cast<double>(index) + fraction;
    EXPECT_GE(done, last);
    last = done;
    return true;
  });
  EXPECT_EQ(last, 5);
}

TEST_F(Analysis, DoesNotReplaceAResultUnlessAsked) {
  test::write_bytes(request_.output, "precious");
  EXPECT_THAT([&] { run_analysis(request_); },
              ThrowsMessage<OutputError>(HasSubstr(request_.output.string())));
  EXPECT_EQ(test::read_bytes(request_.output), "precious");
  request_.overwrite = true;
  run_analysis(request_);
  EXPECT_NE(test::read_bytes(request_.output), "precious");
}

TEST_F(Analysis, NeverReplacesAnInput) {
  const fs::path checkpoint = folder_ / "step-000000.npz";
  fs::copy_file(kData / "adam" / "step-000000.npz", checkpoint);
  const std::string before = test::read_bytes(checkpoint);
  request_.checkpoints = {{checkpoint, 0}};
  request_.output = folder_.path() / "." / "step-000000.npz";
  request_.overwrite = true;
  EXPECT_THAT([&] { run_analysis(request_); }, ThrowsMessage<ConfigError>(HasSubstr("input")));
  EXPECT_EQ(test::read_bytes(checkpoint), before);
}

TEST_F(Analysis, RefusesAnUnknownAnalyzer) {
  request_.only = {"spectra"};
  EXPECT_THAT([&] { run_analysis(request_); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("'spectra'"), HasSubstr("did you mean 'spectrum'"))));
  EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(Analysis, NeedsACheckpoint) {
  request_.checkpoints.clear();
  EXPECT_THROW(run_analysis(request_), PreconditionError);
  EXPECT_THROW(plan_analysis(request_), PreconditionError);
}

TEST_F(Analysis, RunsTheAnalyzersAskedForInOneOrder) {
  request_.only = {"condition", "hessian", "condition"};
  EXPECT_THAT(plan_analysis(request_).analyzers, ElementsAre("hessian", "condition"));
  request_.only.clear();
  EXPECT_THAT(plan_analysis(request_).analyzers, ElementsAre("hessian", "spectrum", "condition"));
}

TEST_F(Analysis, APlanForeseesSizesAndWritesNothing) {
  const AnalysisPlan plan = plan_analysis(request_);
  EXPECT_EQ(plan.model_kind, "linear-attention");
  EXPECT_EQ(plan.num_checkpoints, 5U);
  EXPECT_EQ(plan.num_parameters, 150);
  EXPECT_EQ(plan.num_samples, 256);
  EXPECT_GE(plan.peak_memory_bytes, 2 * 150 * 150 * 8.0);  // the Hessian and its decomposition
  EXPECT_LT(plan.peak_memory_bytes, 1e9);
  EXPECT_GT(plan.seconds, 0);
  EXPECT_LT(plan.seconds, 600);
  EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(Analysis, APlanGrowsWithTheNumberOfCheckpoints) {
  const double five = plan_analysis(request_).seconds;
  for (int copy = 0; copy < 6; ++copy) {
    for (int i = 0; i < 5; ++i) request_.checkpoints.push_back(request_.checkpoints[i]);
  }
  // Both are measured; a factor of 7 between them stands out of the noise of a busy machine.
  EXPECT_GT(plan_analysis(request_).seconds, five);
}

}  // namespace
}  // namespace hesscope
