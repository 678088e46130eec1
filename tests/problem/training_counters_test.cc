// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/problem/training_counters.h>

#include "problem/npz_writer.h"

namespace hesscope {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(TrainingCounters, AreNumbersBesideTheTensors) {
  const io::TensorFile file =
      io::open_tensor_file(test::fixtures().parent_path() / "tensors" / "torch" / "training.pt");
  EXPECT_THAT(training_counters(file, "model_state_dict"), ElementsAre(Pair("epoch", 3)));
  EXPECT_EQ(training_number(file, "", "losses.1"), 0.25);
  EXPECT_EQ(training_number(file, "", "loss"), std::nullopt);
}

TEST(TrainingCounters, AreTensorsOfOneElementTheNearestFirst) {
  const test::ScratchFolder folder;
  test::write_npz(folder / "c.npz",
                  {{"epoch", {{}, {7}}},
                   {"runs.a.epoch", {{1}, {4}}},
                   {"runs.a.model.w", {{2}, {}}},
                   {"runs.b.model.w", {{2}, {}}},
                   {"step", {{2}, {1, 2}}},
                   {"iteration", {{}, {70}}}});
  const io::TensorFile file = io::open_tensor_file(folder / "c.npz");
  EXPECT_THAT(training_counters(file, "runs.a.model"),
              ElementsAre(Pair("epoch", 4), Pair("iteration", 70)));
  EXPECT_THAT(training_counters(file, "runs.b.model"),
              ElementsAre(Pair("epoch", 7), Pair("iteration", 70)));
}

TEST(TrainingCounters, AreNoParameters) {
  EXPECT_TRUE(is_training_number({.name = "epoch", .shape = {}}));
  EXPECT_TRUE(is_training_number({.name = "loss", .shape = {1}}));
  EXPECT_TRUE(is_training_number({.name = "n_averaged", .shape = {}}));
  EXPECT_FALSE(is_training_number({.name = "epoch", .shape = {2}}));
  EXPECT_FALSE(is_training_number({.name = "scale", .shape = {}}));
}

}  // namespace
}  // namespace hesscope
