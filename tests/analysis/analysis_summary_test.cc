// SPDX-License-Identifier: BSD-3-Clause
//
// The summary and warnings of an analysis, from the answers of its analyzers.
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

// A line for each checkpoint and number would drown all others.
TEST_F(AnalysisSummary, SaysTogetherWhatIsNotProved) {
  const auto answer_of = [](std::size_t num_unproved) {
    Group answer;
    for (std::size_t i = 0; i < 6; ++i) {
      Variable& variable = answer[answer.add({.name = "x" + std::to_string(i)})];
      variable.set(1);
      variable.is_proved = i >= num_unproved;
    }
    return answer;
  };
  for (const char* file : {"a.npz", "b.npz", "c.npz"}) {
    result_.checkpoints.back().checkpoint.path = file;
    detail::add_record(result_, "first", answer_of(6));
    detail::add_record(result_, "second", answer_of(file[0] == 'c' ? 2 : 1));
    detail::add_record(result_, "third", answer_of(0));
  }
  detail::add_run_record(result_, "first", answer_of(2));
  EXPECT_THAT(result_.warnings, IsEmpty());
  EXPECT_FALSE(result_.is_conclusive);
  detail::warn_of_unproved(result_);
  const std::string four = "first/x0, first/x1, first/x2, first/x3";
  const std::string why = ": converged without a count, so another eigenvalue may have been missed";
  EXPECT_THAT(result_.warnings,
              ElementsAre("a.npz and 1 more: " + four + " and 3 more" + why,
                          "c.npz: " + four + " and 4 more" + why,
                          "all checkpoints together: first/x0, first/x1" + why));
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
