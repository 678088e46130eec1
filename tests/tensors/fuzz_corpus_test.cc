// SPDX-License-Identifier: BSD-3-Clause
//
// The corpora of tests/fuzz once more, without clang: what fuzzing found stays found.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "fuzz/targets.h"
#include "support/files.h"

namespace hesscope {
namespace {

struct Target {
  const char* name;
  void (*run)(fuzz::Input);
};

class FuzzCorpus : public testing::TestWithParam<Target> {};

TEST_P(FuzzCorpus, IsAnsweredOrRefused) {
  const Target target = GetParam();
  const std::filesystem::path folder = test::fixtures().parent_path() / "fuzz/corpus" / target.name;
  int num_inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().string());
    const std::string bytes = test::read_bytes(entry.path());
    EXPECT_NO_THROW(target.run(std::as_bytes(std::span(bytes))));
    ++num_inputs;
  }
  EXPECT_GT(num_inputs, 20);
}

INSTANTIATE_TEST_SUITE_P(Targets,
                         FuzzCorpus,
                         testing::Values(Target{"zip", fuzz::fuzz_zip},
                                         Target{"pickle", fuzz::fuzz_pickle},
                                         Target{"npy", fuzz::fuzz_npy},
                                         Target{"npz", fuzz::fuzz_npz},
                                         Target{"torch", fuzz::fuzz_torch},
                                         Target{"safetensors", fuzz::fuzz_safetensors},
                                         Target{"shard_index", fuzz::fuzz_shard_index},
                                         Target{"onnx", fuzz::fuzz_onnx},
                                         Target{"toml", fuzz::fuzz_toml}),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace hesscope
