// SPDX-License-Identifier: BSD-3-Clause
//
// Optimisers that a checkpoint holds, whatever model they are of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/problem/stored_optimizer.h>
#include <hesscope/tensors/tensor_file.h>

#include "problem/npz_writer.h"
#include "support/files.h"

namespace hesscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// As nn.Sequential names its layers.
TEST(StoredOptimizers, TellParametersThatBeginWithNumbersFromGroups) {
  const test::ScratchFolder folder;
  const test::Tensor one = {{}, {0.5}};
  test::write_npz(folder / "flat.npz",
                  {{"opt.state.0.weight.exp_avg_sq", {{2}, {1, 2}}},
                   {"opt.param_groups.0.weight.lr", one},
                   {"opt.param_groups.0.weight.betas.0", one}});
  const auto found = find_stored_optimizers(io::open_tensor_file(folder / "flat.npz"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].is_by_name);
  ASSERT_EQ(found[0].groups.size(), 1U);
  EXPECT_THAT(found[0].groups[0].parameters, ElementsAre("0.weight"));
  EXPECT_EQ(found[0].groups[0].numbers.at("betas.0"), 0.5);
}

TEST(StoredOptimizers, AreFoundWithoutAModel) {
  const io::TensorFile checkpoint = io::open_tensor_file(
      test::fixtures().parent_path() / "problem" / "optimizers" / "adamw-groups.pt");
  const auto optimizers = find_stored_optimizers(checkpoint);
  ASSERT_EQ(optimizers.size(), 1U);
  EXPECT_EQ(optimizers[0].num_parameters(), 4U);
  EXPECT_EQ(optimizers[0].groups.at(1).numbers.at("lr"), 0.005);
  EXPECT_THAT(optimizers[0].groups.at(1).parameters, ElementsAre("2", "3"));
  EXPECT_THAT(unexplained_tensors(checkpoint, optimizers), IsEmpty());
}

}  // namespace
}  // namespace hesscope
