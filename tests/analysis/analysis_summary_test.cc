// SPDX-License-Identifier: BSD-3-Clause
//
// What is said of an analysis, from the answers of its analyzers.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/internal/analysis_summary.h>
#include <hesscope/core/constants.h>

namespace hesscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AnalysisSummary : public ::testing::Test {
 protected:
  AnalysisSummary() {
    CheckpointSummary checkpoint{};
    checkpoint.checkpoint.path = "a.npz";
    checkpoint.status = Status::kOk;
    result_.checkpoints.push_back(checkpoint);
  }

  AnalysisResult result_;
};

TEST_F(AnalysisSummary, ShowsNumbersOfOnePlaceInTheOrderOfTheirDeclaration) {
  Group answer;
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) {
    names.push_back("x" + std::to_string(i));
    answer[answer.add({.name = names.back(), .headline = 1})].set(i);
  }
  detail::add_record(result_, "own", answer);
  std::vector<std::string> shown;
  for (const HeadlineNumber& number : result_.checkpoints[0].numbers) shown.push_back(number.name);
  EXPECT_EQ(shown, names);
}

// One number, and one for each sample.
Group answer_with(const std::vector<Status>& statuses) {
  Group answer;
  answer[answer.add({.name = "x"})].set(1);
  answer[answer.add({.name = "of_samples"})].set_numbers(std::vector<double>(statuses.size(), kNaN),
                                                         statuses);
  return answer;
}

TEST_F(AnalysisSummary, SaysWhatFailedBeyondTheFirstNumber) {
  detail::add_record(result_, "own", answer_with({Status::kOk, Status::kFailed}));
  EXPECT_FALSE(result_.is_conclusive);
  EXPECT_THAT(result_.warnings, ElementsAre("a.npz: own/of_samples: failed"));
}

TEST_F(AnalysisSummary, LeavesAloneWhatIsUndefinedOrWasNotAskedFor) {
  const Group answer = answer_with({Status::kNotComputed, Status::kUndefinedSingular, Status::kOk});
  detail::add_record(result_, "own", answer);
  detail::add_run_record(result_, "own", answer);
  EXPECT_TRUE(result_.is_conclusive);
  EXPECT_THAT(result_.warnings, IsEmpty());
}

TEST_F(AnalysisSummary, SaysWhatIsMissingOfTheRun) {
  detail::add_run_record(result_, "own", answer_with({Status::kOk, Status::kNonFinite}));
  EXPECT_FALSE(result_.is_conclusive);
  EXPECT_THAT(result_.warnings,
              ElementsAre("all checkpoints together: own/of_samples: non_finite"));
}

TEST_F(AnalysisSummary, SaysOfACheckpointThatIsNotFiniteNothingMore) {
  result_.checkpoints[0].status = Status::kNonFinite;
  detail::add_record(result_, "own", answer_with({Status::kNonFinite}));
  detail::add_run_record(result_, "own", answer_with({Status::kNonFinite}));
  EXPECT_FALSE(result_.is_conclusive);
  EXPECT_THAT(result_.warnings, IsEmpty());
}

}  // namespace
}  // namespace hesscope
