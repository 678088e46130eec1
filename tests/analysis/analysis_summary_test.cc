// SPDX-License-Identifier: BSD-3-Clause
//
// What is said of an analysis, from the answers of its analyzers.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/internal/analysis_summary.h>

namespace hesscope {
namespace {

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

}  // namespace
}  // namespace hesscope
