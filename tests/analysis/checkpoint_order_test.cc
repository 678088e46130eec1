// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/internal/checkpoint_names.h>
#include <hesscope/analysis/internal/checkpoint_order.h>
#include <hesscope/core/error.h>

namespace hesscope::detail {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::ThrowsMessage;

using Counters = std::map<std::string, double>;

class CheckpointOrderTest : public ::testing::Test {
 protected:
  void give(const std::string& path, const Counters& counters = {}) {
    given_.push_back({{path, step_in_name(path)}, counters});
  }

  CheckpointSequence sequence(CheckpointOrder order = CheckpointOrder::kByStep,
                              const std::string& step_key = "") const {
    return order_checkpoints(given_, order, step_key);
  }

  std::vector<std::string> names(const CheckpointSequence& sequence) const {
    std::vector<std::string> all;
    for (const std::size_t i : sequence.order) all.push_back(given_[i].file.path.string());
    return all;
  }

  std::vector<CheckpointEvidence> given_;
};

std::vector<std::int64_t> steps_of(const CheckpointSequence& sequence) {
  std::vector<std::int64_t> steps;
  for (const auto& step : sequence.steps) steps.push_back(step.value_or(-99));
  return steps;
}

TEST_F(CheckpointOrderTest, IsThatOfTheLastNumberInTheNamesNotOfTheShell) {
  for (const char* name : {"ck/epoch_0.pt",
                           "ck/epoch_1.pt",
                           "ck/epoch_10.pt",
                           "ck/epoch_25.pt",
                           "ck/epoch_5.pt",
                           "ck/epoch_50.pt"}) {
    give(name);
  }
  const CheckpointSequence found = sequence();
  EXPECT_THAT(steps_of(found), ElementsAre(0, 1, 5, 10, 25, 50));
  EXPECT_THAT(found.order, ElementsAre(0, 1, 4, 2, 3, 5));
  ASSERT_EQ(found.runs.size(), 1U);
  EXPECT_EQ(found.runs[0].size, 6U);
  EXPECT_TRUE(found.runs[0].is_ordered);
  EXPECT_THAT(found.warnings, IsEmpty());
  EXPECT_EQ(found.step_definition(), "number in the name of the file");
  EXPECT_EQ(found.step_unit(), "epoch");
}

TEST_F(CheckpointOrderTest, TakesAnyPatternOfNames) {
  for (const char* name : {"model_e5_s1000.pt", "model_e5_s200.pt", "model_e6_s1200.pt"})
    give(name);
  EXPECT_THAT(steps_of(sequence()), ElementsAre(200, 1000, 1200));
  given_.clear();
  for (const char* name : {"ckpt-000100", "ckpt-000020", "ckpt-000003"}) give(name);
  EXPECT_THAT(steps_of(sequence()), ElementsAre(3, 20, 100));
  given_.clear();
  for (const char* name :
       {"run/epoch=1-step=20-val_loss=0.95.ckpt", "run/epoch=0-step=10-val_loss=0.97.ckpt"}) {
    give(name);
  }
  EXPECT_THAT(steps_of(sequence()), ElementsAre(10, 20));
  given_.clear();
  for (const char* name : {"epoch12_lr1e-4.pt", "epoch3_lr1e-4.pt"}) give(name);  // 4 is in all
  EXPECT_THAT(steps_of(sequence()), ElementsAre(3, 12));
  given_.clear();
  // A score is no step, whether it goes up or not.
  for (const char* name : {"epoch_1_acc_71.pt", "epoch_2_acc_85.pt", "epoch_3_acc_80.pt"}) {
    give(name);
  }
  EXPECT_THAT(steps_of(sequence()), ElementsAre(1, 2, 3));
}

TEST_F(CheckpointOrderTest, NamesThatAreNotAlikeCountWhereTheirWordsDo) {
  for (const char* name : {"model_epoch_100_final_v2.pt", "model_epoch_90.pt"}) give(name);
  EXPECT_THAT(steps_of(sequence()), ElementsAre(90, 100));
  given_.clear();
  for (const char* name : {"step500.pt", "step1k.pt", "step2k.pt"}) give(name);
  const CheckpointSequence found = sequence();
  EXPECT_FALSE(found.runs[0].is_ordered);
  EXPECT_EQ(found.warnings.size(), 1U);
}

TEST_F(CheckpointOrderTest, FoldersOfOneCheckpointEachAreOneRun) {
  for (const char* name : {"out/checkpoint-1000/model.safetensors",
                           "out/checkpoint-500/model.safetensors",
                           "out/checkpoint-20/model.safetensors"}) {
    give(name);
  }
  const CheckpointSequence found = sequence();
  EXPECT_THAT(steps_of(found), ElementsAre(20, 500, 1000));
  EXPECT_EQ(found.runs.size(), 1U);
  given_.clear();
  for (const char* name : {"out/checkpoint-1000/mlp2.pt", "out/checkpoint-500/mlp2.pt"}) give(name);
  EXPECT_THAT(steps_of(sequence()), ElementsAre(500, 1000));
  given_.clear();
  give("seed_1/final.pt");
  give("seed_2/final.pt");
  EXPECT_EQ(sequence().runs.size(), 2U);
}

TEST_F(CheckpointOrderTest, PrefersTheFinestCounterThatAllFilesHave) {
  give("b.pt", {{"epoch", 1}, {"step", 20}, {"global_step", 120}});
  give("a.pt", {{"epoch", 1}, {"step", 10}, {"global_step", 110}});
  give("c.pt", {{"epoch", 2}, {"step", 30}});
  CheckpointSequence found = sequence();
  EXPECT_THAT(steps_of(found), ElementsAre(10, 20, 30));
  EXPECT_EQ(found.runs[0].step_source, "the number 'step' in the checkpoint");
  given_[2].counters["global_step"] = 10;  // contradicts the epoch
  found = sequence();
  EXPECT_THAT(steps_of(found), ElementsAre(10, 20, 30));
  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("'global_step' in the checkpoint goes back")));
}

TEST_F(CheckpointOrderTest, AStepThatStartsAgainInEachEpochDoesNotCount) {
  give("x.pt", {{"epoch", 1}, {"step", 500}});
  give("y.pt", {{"epoch", 2}, {"step", 100}});
  give("z.pt", {{"epoch", 0}, {"step", 300}});
  const CheckpointSequence found = sequence();
  EXPECT_THAT(names(found), ElementsAre("z.pt", "x.pt", "y.pt"));
  EXPECT_THAT(steps_of(found), ElementsAre(0, 1, 2));
  EXPECT_THAT(found.warnings,
              ElementsAre(AllOf(HasSubstr("'step'"), HasSubstr("started again in each"))));
}

TEST_F(CheckpointOrderTest, FilesTellBeforeNamesAndADifferenceIsSaid) {
  give("epoch_1.pt", {{"epoch", 9}});
  give("epoch_2.pt", {{"epoch", 4}});
  CheckpointSequence found = sequence();
  EXPECT_THAT(names(found), ElementsAre("epoch_2.pt", "epoch_1.pt"));
  EXPECT_EQ(found.step_unit(), "epoch");
  EXPECT_THAT(steps_of(found), ElementsAre(4, 9));
  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("their names tell another order")));
  given_[0].counters["epoch"] = 0;
  given_[1].counters["epoch"] = 1;
  found = sequence();
  EXPECT_THAT(steps_of(found), ElementsAre(0, 1));
  EXPECT_THAT(found.warnings,
              ElementsAre(AllOf(HasSubstr("epoch_1.pt: its step is 0"), HasSubstr("'epoch'"))));
  given_[0].counters = {{"global_step", 400}};  // epochs and steps are different things
  given_[1].counters = {{"global_step", 800}};
  found = sequence();
  EXPECT_THAT(steps_of(found), ElementsAre(400, 800));
  EXPECT_THAT(found.warnings, IsEmpty());
}

TEST_F(CheckpointOrderTest, TheConventionStepNIsFinerThanEpochs) {
  give("step-20.npz", {{"epoch", 1}});
  give("step-5.npz", {{"epoch", 0}});
  const CheckpointSequence found = sequence();
  EXPECT_THAT(steps_of(found), ElementsAre(5, 20));
  EXPECT_EQ(found.step_definition(), "N of a file named step-N.*");
  EXPECT_EQ(found.step_unit(), "training step");
  EXPECT_THAT(found.warnings, IsEmpty());
}

TEST_F(CheckpointOrderTest, StepsInNamesTellCheckpointsOfOneEpochApart) {
  give("model_e2_s400.pt", {{"epoch", 2}});
  give("model_e2_s200.pt", {{"epoch", 2}});
  EXPECT_THAT(steps_of(sequence()), ElementsAre(200, 400));
  given_.clear();
  give("best_7.pt", {{"epoch", 2}});  // of what, it does not say
  give("best_8.pt", {{"epoch", 2}});
  EXPECT_THROW(sequence(), InputError);
}

TEST_F(CheckpointOrderTest, RefusesTwoFilesOfOneStep) {
  give("run/epoch_5.pt");
  give("run/epoch_7.pt");
  give("run/epoch_05.pt");
  EXPECT_THAT([&] { sequence(); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("run/epoch_5.pt and run/epoch_05.pt"),
                                              HasSubstr("step 5"),
                                              HasSubstr("`order` given"))));
  EXPECT_THAT(names(sequence(CheckpointOrder::kGiven)),
              ElementsAre("run/epoch_5.pt", "run/epoch_7.pt", "run/epoch_05.pt"));
  given_.clear();
  give("best.pt", {{"epoch", 5}});
  give("epoch_5.pt", {{"epoch", 5}});
  EXPECT_THROW(sequence(), InputError);
}

TEST_F(CheckpointOrderTest, OfTwoFoldersEachIsARun) {
  give("adam/step-5.npz");
  give("sgd/step-5.npz");
  give("adam/step-1.npz");
  give("./sgd/step-0.npz");
  const CheckpointSequence found = sequence();
  EXPECT_THAT(
      names(found),
      ElementsAre("adam/step-1.npz", "adam/step-5.npz", "./sgd/step-0.npz", "sgd/step-5.npz"));
  ASSERT_EQ(found.runs.size(), 2U);
  EXPECT_EQ(found.runs[1].first, 2U);
  EXPECT_EQ(found.runs[1].size, 2U);
}

TEST_F(CheckpointOrderTest, InTheOrderGivenARunMayGoOnInAnotherFolder) {
  for (const char* name : {"a/s-1.pt", "b/s-2.pt", "b/s-9.pt", "b/s-3.pt", "c/x.pt", "a/s-1.pt"}) {
    give(name);
  }
  const CheckpointSequence found = sequence(CheckpointOrder::kGiven);
  EXPECT_THAT(found.order, ElementsAre(0, 1, 2, 3, 4, 5));
  ASSERT_EQ(found.runs.size(), 1U);
  given_.erase(given_.begin() + 4);  // now a step in another folder goes back
  EXPECT_EQ(sequence(CheckpointOrder::kGiven).runs.size(), 2U);
}

TEST_F(CheckpointOrderTest, WithoutATellingNumberTheOrderIsNotKnown) {
  give("warm.pt");
  give("final.pt");
  give("epoch_3.pt");
  const CheckpointSequence found = sequence();
  EXPECT_THAT(found.order, ElementsAre(0, 1, 2));
  ASSERT_EQ(found.runs.size(), 1U);
  EXPECT_FALSE(found.runs[0].is_ordered);
  EXPECT_THAT(found.warnings,
              ElementsAre(AllOf(HasSubstr("warm.pt to epoch_3.pt"), HasSubstr("`order` given"))));
  const CheckpointSequence given = sequence(CheckpointOrder::kGiven);
  EXPECT_TRUE(given.runs[0].is_ordered);
  EXPECT_THAT(given.warnings, IsEmpty());
  given_.resize(1);  // one checkpoint has no order to know
  EXPECT_TRUE(sequence().runs[0].is_ordered);
  EXPECT_THAT(sequence().warnings, IsEmpty());
}

TEST_F(CheckpointOrderTest, NumbersInNamesThatContradictEachOtherTellNothing) {
  give("ckpt_20240101-000102.pt");  // the last number is a time of day
  give("ckpt_20231231-235959.pt");
  EXPECT_FALSE(sequence().runs[0].is_ordered);
  given_.clear();
  for (const char* name : {"e1_s100.pt", "e1_s200.pt", "e2_s100.pt"}) give(name);
  EXPECT_FALSE(sequence().runs[0].is_ordered);
}

TEST_F(CheckpointOrderTest, HugeNumbersAreNoSteps) {
  give("ckpt-20231231235959123456.pt");
  give("ckpt-20240101000000123456.pt");
  const CheckpointSequence found = sequence();
  EXPECT_FALSE(found.runs[0].is_ordered);
  EXPECT_EQ(found.steps[0], std::nullopt);
  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("beyond 2^53 are no steps")));
  given_.clear();
  give("a.pt", {{"epoch", 1e300}});
  give("b.pt", {{"epoch", 0.5}});
  EXPECT_FALSE(sequence().runs[0].is_ordered);
  given_.clear();
  give("a.pt", {{"step", 9007199254740992}});  // 2^53
  give("b.pt", {{"step", 9007199254740991}});
  EXPECT_THAT(steps_of(sequence()), ElementsAre(9007199254740991, 9007199254740992));
}

TEST_F(CheckpointOrderTest, TakesTheCounterAskedFor) {
  give("epoch_1.pt", {{"epoch", 1}, {"trainer.seen", 900}});
  give("epoch_2.pt", {{"epoch", 2}, {"trainer.seen", 300}});
  const CheckpointSequence found = sequence(CheckpointOrder::kByStep, "trainer.seen");
  EXPECT_THAT(steps_of(found), ElementsAre(300, 900));
  EXPECT_EQ(found.step_definition(), "the number 'trainer.seen' in the checkpoint");
  given_[1].counters.erase("trainer.seen");
  EXPECT_THAT([&] { sequence(CheckpointOrder::kByStep, "trainer.seen"); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("epoch_2.pt: `step_key`"),
                                              HasSubstr("'trainer.seen', which is not in"))));
  given_[1].counters["trainer.seen"] = 2.5;
  EXPECT_THAT([&] { sequence(CheckpointOrder::kByStep, "trainer.seen"); },
              ThrowsMessage<InputError>(HasSubstr("which is 2.5")));
}

TEST_F(CheckpointOrderTest, ACounterThatOnlySomeHaveIsSaidNotUsed) {
  give("epoch_2.pt", {{"epoch", 1}});
  give("epoch_1.pt");
  const CheckpointSequence found = sequence();
  EXPECT_THAT(steps_of(found), ElementsAre(1, 2));
  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("'epoch' is no step in all")));
}

TEST_F(CheckpointOrderTest, TheOptimizersCountIsTheLastResort) {
  give("b.npz", {{"optimizer.step", 7}});
  give("a.npz", {{"optimizer.step", 9}});
  EXPECT_THAT(steps_of(sequence()), ElementsAre(7, 9));
  given_.clear();
  give("c-3.npz", {{"optimizer.step", 7}});
  give("c-2.npz", {{"optimizer.step", 9}});
  EXPECT_THAT(steps_of(sequence()), ElementsAre(2, 3));
}

TEST(CheckpointNames, AreReadWithoutTheEndingsOfFormats) {
  EXPECT_EQ(step_in_name("model.h5"), std::nullopt);
  EXPECT_EQ(step_in_name("epoch_7.weights.h5"), 7);
  EXPECT_EQ(step_in_name("epoch_7.safetensors.index.json"), 7);
  EXPECT_EQ(step_in_name("checkpoint_12.pth.tar"), 12);
  EXPECT_THAT(step_in_name("ckpt-000100"), Optional(100));
  EXPECT_EQ(step_in_name("step--3.npz"), std::nullopt);
  EXPECT_EQ(step_in_name("w_0.25.npz"), std::nullopt);
  EXPECT_EQ(step_in_name("w_9007199254740993.npz"), std::nullopt);
  EXPECT_EQ(step_in_name("w_9007199254740992.npz"), kLargestStep);
}

}  // namespace
}  // namespace hesscope::detail
