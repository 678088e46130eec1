// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/tensors/checkpoint_file.h>
#include <hesscope/tensors/tensor_map.h>
#include <hesscope/tensors/wrapped_names.h>

#include "support/files.h"

namespace hesscope::io {
namespace {

using ::testing::ElementsAre;

class WrappedNames : public ::testing::Test {
 protected:
  TensorFile file(const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& tensors) {
    const std::vector<double> values = {1, 2, 3, 4, 5, 6};
    std::vector<CheckpointTensor> all;
    for (const auto& [name, shape] : tensors) {
      std::size_t size = 1;
      for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
      all.push_back({name, shape, std::span(values).first(size)});
    }
    write_checkpoint(scratch_ / "c.h5", all, Existing::kReplace);
    return open_tensor_file(scratch_ / "c.h5");
  }

  static std::vector<std::string> names(const TensorFile& file) {
    std::vector<std::string> all;
    for (const TensorInfo& tensor : file.tensors()) all.push_back(tensor.name);
    return all;
  }

  test::ScratchFolder scratch_;
};

TEST_F(WrappedNames, AreReadWithoutWhatAllHaveInCommon) {
  const TensorFile parallel = file({{"module.b", {2}}, {"module.w", {2, 3}}});
  EXPECT_EQ(wrapper_of(parallel), "module.");
  EXPECT_THAT(names(unwrapped(parallel)), ElementsAre("b", "w"));
  EXPECT_THAT(unwrapped(parallel).read("w"), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(names(unwrapped(parallel).whole()), names(parallel));
  EXPECT_EQ(names(unwrapped(unwrapped(parallel))), names(unwrapped(parallel)));
  EXPECT_EQ(wrapper_of(file({{"_orig_mod.module.b", {2}}, {"_orig_mod.module.w", {3}}})),
            "_orig_mod.module.");
}

TEST_F(WrappedNames, AreNotThoseOfAModulesOwnPart) {
  EXPECT_EQ(wrapper_of(file({{"module.b", {2}}, {"w", {2, 3}}})), "");
  EXPECT_EQ(wrapper_of(file({{"module.b", {2}}, {"_orig_mod.module.w", {2, 3}}})), "");
  EXPECT_EQ(wrapper_of(file({{"modules.b", {2}}})), "");
  EXPECT_EQ(wrapper_of(file({{"module", {2}}})), "");
}

TEST_F(WrappedNames, StandBesideCountersAndAnOptimizer) {
  const TensorFile mixed =
      file({{"epoch", {}}, {"module.w", {2, 3}}, {"optimizer.exp_avg_sq.w", {2, 3}}});
  EXPECT_THAT(names(unwrapped(mixed)), ElementsAre("epoch", "w", "optimizer.exp_avg_sq.w"));
}

TEST_F(WrappedNames, AMapMayNameTensorsWithOrWithout) {
  const TensorFile parallel = file({{"module.net.b", {2}}, {"module.net.w", {2, 3}}});
  EXPECT_THAT(names(mapped(parallel, {.rules = {{.name = "layers.*", .source = "net.*"}}})),
              ElementsAre("layers.b", "layers.w"));
  EXPECT_THAT(names(mapped(parallel, {.rules = {{.name = "layers.*", .source = "module.net.*"}}})),
              ElementsAre("layers.b", "layers.w"));
}

}  // namespace
}  // namespace hesscope::io
