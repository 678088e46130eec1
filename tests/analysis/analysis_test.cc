// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/analysis.h>
#include <hesscope/core/error.h>
#include <hesscope/objective/objective.h>
#include <hesscope/storage/unit_folder.h>

#include "analysis/analysis_of_files.h"
#include "support/files.h"

namespace hesscope {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

using test::AnalysisOfFiles;
using test::kRuns;

namespace fs = std::filesystem;

TEST_F(AnalysisOfFiles, SummarizesEveryCheckpointAndWritesOneFile) {
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

TEST_F(AnalysisOfFiles, AZeroMedianIsAConclusion) {
  request_.checkpoints.resize(1);  // at initialisation the median eigenvalue is zero
  request_.only = {"condition"};
  const AnalysisResult result = run_analysis(request_);
  EXPECT_TRUE(result.is_conclusive);
  const HeadlineNumber& ratio = result.checkpoints[0].numbers.at(1);
  EXPECT_EQ(ratio.name, "robust_eigenvalue");
  EXPECT_TRUE(std::isnan(ratio.value));
  EXPECT_EQ(ratio.status, Status::kUndefinedZeroMedian);
}

TEST_F(AnalysisOfFiles, StopsWhenProgressSaysSoAndLeavesNoOutput) {
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
    EXPECT_EQ(io::has_units(request_.output), stop_at > 0);
    const std::vector<std::string> expected(stop_at > 0 ? 1 : 0, "result.h5.units");
    EXPECT_EQ(left_behind(), expected);
  }
}

TEST_F(AnalysisOfFiles, StopsInsideAHessian) {
  request_.checkpoints.resize(1);
  int calls = 0;
  const auto progress = [&](std::size_t, std::size_t, double fraction) {
    ++calls;
    return fraction == 0 && calls < 2;
  };
  EXPECT_THROW(run_analysis(request_, progress), Interrupted);
  EXPECT_EQ(calls, 2);
  EXPECT_THAT(left_behind(), ElementsAre("result.h5.units"));  // loss and gradient are known
}

TEST_F(AnalysisOfFiles, ProgressGoesForwardToTheEnd) {
  double last = 0;
  run_analysis(request_, [&](std::size_t index, std::size_t, double fraction) {
    const double done = static_cast<double>(index) + fraction;
    EXPECT_GE(done, last);
    last = done;
    return true;
  });
  EXPECT_EQ(last, 5);
}

TEST_F(AnalysisOfFiles, DoesNotReplaceAResultUnlessAsked) {
  test::write_bytes(request_.output, "precious");
  EXPECT_THAT([&] { run_analysis(request_); },
              ThrowsMessage<OutputError>(HasSubstr(request_.output.string())));
  EXPECT_EQ(test::read_bytes(request_.output), "precious");
  request_.overwrite = io::Overwrite::kOwnKind;  // which it is not
  EXPECT_THAT([&] { run_analysis(request_); },
              ThrowsMessage<OutputError>(HasSubstr("not a result of `run_analysis()`")));
  EXPECT_EQ(test::read_bytes(request_.output), "precious");
  request_.overwrite = io::Overwrite::kAnything;
  run_analysis(request_);
  EXPECT_NE(test::read_bytes(request_.output), "precious");
  EXPECT_THAT(left_behind(), ElementsAre("result.h5"));
}

void expect_same(const std::vector<HeadlineNumber>& a, const std::vector<HeadlineNumber>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    EXPECT_EQ(a[k].analyzer + "/" + a[k].name, b[k].analyzer + "/" + b[k].name);
    EXPECT_EQ(a[k].status, b[k].status) << a[k].name;
    EXPECT_EQ(a[k].is_count, b[k].is_count) << a[k].name;
    EXPECT_TRUE(a[k].value == b[k].value || (std::isnan(a[k].value) && std::isnan(b[k].value)))
        << a[k].name << ": " << a[k].value << " and " << b[k].value;
  }
}

// With numbers that are undefined, and some that are not computed.
TEST_F(AnalysisOfFiles, ItsOwnResultIsReadBack) {
  request_.also = {"eigenpairs", "smoothness", "stability", "blocks"};
  request_.method = SpectrumMethod::kMatrixFree;
  const AnalysisResult first = run_analysis(request_);
  EXPECT_FALSE(first.is_done_already);
  EXPECT_FALSE(first.run_numbers.empty());
  const std::string bytes = test::read_bytes(request_.output);
  const auto time = fs::last_write_time(request_.output);
  EXPECT_TRUE(plan_analysis(request_).is_done_already);
  const AnalysisResult again = run_analysis(request_);
  EXPECT_TRUE(again.is_done_already);
  EXPECT_EQ(again.is_conclusive, first.is_conclusive);
  EXPECT_EQ(again.warnings, first.warnings);
  ASSERT_EQ(again.checkpoints.size(), first.checkpoints.size());
  for (std::size_t i = 0; i < first.checkpoints.size(); ++i) {
    EXPECT_EQ(again.checkpoints[i].sha256, first.checkpoints[i].sha256);
    EXPECT_EQ(again.checkpoints[i].loss, first.checkpoints[i].loss);
    EXPECT_EQ(again.checkpoints[i].gradient_norm, first.checkpoints[i].gradient_norm);
    EXPECT_EQ(again.checkpoints[i].status, first.checkpoints[i].status);
    expect_same(first.checkpoints[i].numbers, again.checkpoints[i].numbers);
  }
  expect_same(first.run_numbers, again.run_numbers);
  EXPECT_EQ(test::read_bytes(request_.output), bytes);
  EXPECT_EQ(fs::last_write_time(request_.output), time);
  // As the result of another request it is refused, and the difference named.
  request_.seed = 7;
  EXPECT_FALSE(plan_analysis(request_).is_done_already);
  EXPECT_THAT([&] { run_analysis(request_); },
              ThrowsMessage<OutputError>(AllOf(HasSubstr("exists already"), HasSubstr("'seed'"))));
  request_.overwrite = io::Overwrite::kOwnKind;
  EXPECT_FALSE(run_analysis(request_).is_done_already);
}

TEST_F(AnalysisOfFiles, NeverReplacesAnInput) {
  const fs::path checkpoint = folder_ / "step-000000.npz";
  fs::copy_file(kRuns / "adam" / "step-000000.npz", checkpoint);
  const std::string before = test::read_bytes(checkpoint);
  request_.checkpoints = {{checkpoint, 0}};
  request_.output = folder_.path() / "." / "step-000000.npz";
  request_.overwrite = io::Overwrite::kOwnKind;
  EXPECT_THAT([&] { run_analysis(request_); }, ThrowsMessage<ConfigError>(HasSubstr("input")));
  EXPECT_EQ(test::read_bytes(checkpoint), before);
}

TEST_F(AnalysisOfFiles, RefusesAnUnknownAnalyzer) {
  request_.only = {"spectra"};
  EXPECT_THAT([&] { run_analysis(request_); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("'spectra'"), HasSubstr("did you mean 'spectrum'"))));
  EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(AnalysisOfFiles, NeedsACheckpoint) {
  request_.checkpoints.clear();
  EXPECT_THROW(run_analysis(request_), PreconditionError);
  EXPECT_THROW(plan_analysis(request_), PreconditionError);
}

TEST_F(AnalysisOfFiles, RunsTheAnalyzersAskedForInOneOrder) {
  request_.only = {"condition", "hessian", "condition"};
  EXPECT_THAT(plan_analysis(request_).analyzers, ElementsAre("hessian", "condition"));
  request_.only.clear();
  EXPECT_THAT(plan_analysis(request_).analyzers,
              ElementsAre("hessian", "spectrum", "condition", "structure"));
  request_.also = {"density", "blocks"};
  EXPECT_THAT(plan_analysis(request_).analyzers,
              ElementsAre("hessian", "spectrum", "condition", "structure", "blocks", "density"));
}

TEST_F(AnalysisOfFiles, AnOptionAsksForItsAnalyzer) {
  request_.only = {"condition"};
  request_.options = {{"eigenpairs", std::int64_t{2}}, {"save-hessian", true}};
  EXPECT_THAT(plan_analysis(request_).analyzers, ElementsAre("hessian", "condition", "eigenpairs"));
  request_.options = {{"eigenpair", std::int64_t{2}}};
  EXPECT_THAT([&] { plan_analysis(request_); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("'eigenpair'"), HasSubstr("did you mean 'eigenpairs'"))));
  request_.options = {{"eigenpairs", std::int64_t{0}}};
  EXPECT_THAT([&] { plan_analysis(request_); },
              ThrowsMessage<ConfigError>(HasSubstr("'eigenpairs' must be between 1 and 1000")));
}

TEST_F(AnalysisOfFiles, APlanForeseesSizesAndWritesNothing) {
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

TEST_F(AnalysisOfFiles, APlanGrowsWithTheNumberOfCheckpoints) {
  request_.reading.order = CheckpointOrder::kGiven;  // the same again would be refused
  const double five = plan_analysis(request_).seconds;
  for (int copy = 0; copy < 6; ++copy) {
    for (int i = 0; i < 5; ++i) request_.checkpoints.push_back(request_.checkpoints[i]);
  }
  // Both are measured; a factor of 7 between them stands out of the noise of a busy machine.
  EXPECT_GT(plan_analysis(request_).seconds, five);
}

TEST_F(AnalysisOfFiles, APlanForeseesTheDrawsOfTheNoise) {
  request_.also = {"noise"};
  request_.options = {{"noise-draws", std::int64_t{10}}};
  const AnalysisPlan few = plan_analysis(request_);
  request_.options = {{"noise-draws", std::int64_t{10'000'000}}};
  const AnalysisPlan many = plan_analysis(request_);
  EXPECT_GT(many.seconds, 10 * few.seconds);
  EXPECT_GE(many.peak_memory_bytes - few.peak_memory_bytes, 150 * 9'999'990 * 8.0);
}

}  // namespace
}  // namespace hesscope
