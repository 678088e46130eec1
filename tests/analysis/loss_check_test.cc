// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/internal/loss_check.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>

namespace hesscope::detail {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

Group root(double loss) {
  Group record{.variables = {{.name = "loss"}}};
  record["loss"].set(loss);
  return record;
}

LossCheck check(const std::vector<ExpectedLoss>& expected, const std::vector<double>& losses) {
  std::vector<Group> roots;
  std::vector<CheckpointFile> files;
  for (const double loss : losses) {
    files.push_back({"c" + std::to_string(files.size()) + ".pt", {}});
    roots.push_back(root(loss));
  }
  return check_losses(expected, files, roots);
}

TEST(LossCheck, ToleratesATenThousandth) {
  const LossCheck found =
      check({{0.5, LossSource::kProblemFile}, {0.5, LossSource::kProblemFile}}, {0.50004, 0.50006});
  EXPECT_FALSE(found.is_as_said);
  EXPECT_EQ(found.records[0]["loss_difference"].status(), Status::kOk);
  EXPECT_DOUBLE_EQ(found.records[0]["loss_difference"].reals()[0], 0.50004 - 0.5);
  EXPECT_EQ(found.records[1]["loss_difference"].status(), Status::kDiffersFromExpected);
  EXPECT_DOUBLE_EQ(found.records[1]["loss_difference"].reals()[0], 0.50006 - 0.5);
  EXPECT_THAT(found.warnings,
              ElementsAre(AllOf(HasSubstr("c1.pt: the loss over the data is 0.50006"),
                                HasSubstr("[check] of the problem file) is 0.5"),
                                HasSubstr("1 of 2 checkpoints"))));
}

TEST(LossCheck, ANumberInTheCheckpointIsAWarningOnly) {
  const LossCheck found = check({{0.25, LossSource::kCheckpoint}, {}}, {0.5, kInfinity});
  EXPECT_TRUE(found.is_as_said);
  EXPECT_THAT(found.warnings, SizeIs(1));
  EXPECT_EQ(found.records[0]["loss_difference"].status(), Status::kDiffersFromExpected);
  EXPECT_EQ(found.records[1]["expected_loss"].status(), Status::kNotStored);
  EXPECT_EQ(found.records[1]["loss_difference"].status(), Status::kNotStored);
}

TEST(LossCheck, ALossThatIsNotFiniteIsSaidElsewhere) {
  const LossCheck found = check({{0.25, LossSource::kRequest}}, {std::nan("")});
  EXPECT_THAT(found.warnings, IsEmpty());
  EXPECT_EQ(found.records[0]["loss_difference"].status(), Status::kNonFinite);
}

TEST(LossCheck, AnExpectationOfZeroIsMetByZeroAlone) {
  EXPECT_TRUE(check({{0, LossSource::kRequest}}, {0}).is_as_said);
  EXPECT_FALSE(check({{0, LossSource::kRequest}}, {1e-300}).is_as_said);
}

TEST(LossCheck, TheUsersWordCountsBeforeTheCheckpoints) {
  ProblemFile problem;
  problem.expected_losses = {{5, 0.3}};
  EXPECT_EQ(expected_loss(problem, 5, 0.1, 0.2).value, 0.1);
  EXPECT_EQ(expected_loss(problem, 5, {}, 0.2).value, 0.3);
  EXPECT_EQ(expected_loss(problem, 6, {}, 0.2).value, 0.2);
  EXPECT_EQ(expected_loss(problem, 6, {}, std::nan("")).source, LossSource::kNobody);
  EXPECT_THAT(loss_check_quantities(std::vector<ExpectedLoss>(3)), IsEmpty());
}

TEST(LossCheck, RefusesWhatCouldBeMeantOfSeveralCheckpoints) {
  ProblemFile problem;
  problem.check_place = "p.toml:9";
  problem.expected_loss = 0.5;
  require_clear_losses(problem, {}, 1, 1);
  EXPECT_THAT([&] { require_clear_losses(problem, {}, 3, 1); },
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("p.toml:9"), HasSubstr("500 = 0.5"))));
  problem.expected_loss.reset();
  problem.expected_losses = {{5, 0.3}};
  require_clear_losses(problem, {}, 3, 1);
  EXPECT_THAT([&] { require_clear_losses(problem, {}, 3, 2); },
              ThrowsMessage<ConfigError>(HasSubstr("2 runs")));
  CheckpointReading reading;
  reading.expected_losses = {1, 2};
  EXPECT_THAT([&] { require_clear_losses(problem, reading, 3, 1); },
              ThrowsMessage<ConfigError>(HasSubstr("2 losses for 3 checkpoints")));
}

}  // namespace
}  // namespace hesscope::detail
