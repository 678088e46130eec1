// SPDX-License-Identifier: BSD-3-Clause
//
// What an optimiser kept that cannot be used as it stands.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/problem/problem.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/tensors/tensor_file.h>

#include "problem/npz_writer.h"
#include "support/files.h"
#include "tensors/pickle_bytes.h"

namespace hesscope {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

// Adam's state of two parameters, whose entries are what follows.
class OddState : public testing::Test {
 protected:
  using Entry = std::vector<std::pair<std::string, std::string>>;

  OptimizerState read_entries(const Entry& weight, const Entry& bias) const {
    const std::string settings = test::dict({{"lr", "K\x01"},
                                             {"betas", "K\x00K\x00\x86"s},
                                             {"eps", "K\x01"},
                                             {"amsgrad", "\x89"},
                                             {"params", test::tuple({0, 1})}});
    const std::string optimizer =
        test::dict({{"state", test::dict({{"0", test::dict(weight)}, {"1", test::dict(bias)}})},
                    {"param_groups", test::dict({{"0", settings}})}});
    const std::string model = test::dict({{"layers.0.weight", kSquare}, {"layers.0.bias", kPair}});
    test::write_torch(folder_ / "odd.pt",
                      test::pickle(test::dict({{"model", model}, {"optimizer", optimizer}})),
                      test::bytes_of({1, 2, 3, 4, 5, 6}));
    test::write_npz(folder_ / "points.npz",
                    {{"inputs", {{3, 2}, {}}}, {"target", {{3}, {0, 1, 0}}}});
    test::write_bytes(folder_ / "problem.toml",
                      "[model]\nkind = \"mlp\"\nactivation = \"tanh\"\nloss = \"cross-entropy\"\n"
                      "[data]\nfile = \"points.npz\"\n");
    const io::TensorFile checkpoint = io::open_tensor_file(folder_ / "odd.pt").part("model");
    const Problem problem(read_problem_file(folder_ / "problem.toml"), checkpoint, 1);
    return problem.read_optimizer_state(checkpoint);
  }

  test::ScratchFolder folder_;
  const std::string kStorage = test::storage("0", 6);
  const std::string kSquare = test::tensor(kStorage, {2, 2}, {2, 1});
  const std::string kPair = test::tensor(kStorage, {2}, {1}, 4);
  const std::string kFive = "K\x05";
};

TEST_F(OddState, IsUsedWithStepsOfAllOrOfNone) {
  const OptimizerState all = read_entries({{"step", kFive}, {"exp_avg_sq", kSquare}},
                                          {{"step", kFive}, {"exp_avg_sq", kPair}});
  EXPECT_EQ(all.obstacle, "");
  EXPECT_EQ(all.blocks.at(1).step, 5);
  const OptimizerState none = read_entries({{"exp_avg_sq", kSquare}}, {{"exp_avg_sq", kPair}});
  EXPECT_EQ(none.obstacle, "");
  EXPECT_EQ(none.second_moments.size(), 6);
  EXPECT_EQ(none.blocks.at(1).step, std::nullopt);
  const OptimizerState one =
      read_entries({{"step", kFive}, {"exp_avg_sq", kSquare}}, {{"exp_avg_sq", kPair}});
  EXPECT_THAT(one.obstacle, HasSubstr("the 'step' of '1' is missing, and others have one"));
  EXPECT_FALSE(one.has_second_moments());
}

TEST_F(OddState, IsRefusedByNameWhereAStepIsNoNumber) {
  for (const std::string& step : {test::text("5"), test::dict({{"value", kFive}}), kPair}) {
    const OptimizerState state = read_entries({{"step", kFive}, {"exp_avg_sq", kSquare}},
                                              {{"step", step}, {"exp_avg_sq", kPair}});
    EXPECT_THAT(state.obstacle,
                HasSubstr("the 'step' of '1' must be one whole number, at least 1"));
  }
}

TEST_F(OddState, IsRefusedByNameWhereMomentsAreNoTensor) {
  // As torch.save pickles an array of NumPy, and a tensor of complex numbers.
  const std::string array = "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n" +
                            test::tuple({0}) + test::text("b") + "tR(K\x01" + test::tuple({2}) +
                            "tb";
  const std::string complex =
      test::tensor(test::storage("0", 3, "torch\nComplexDoubleStorage"), {2}, {1});
  const std::vector<std::pair<std::string, std::string>> cases = {
      {array, "it is neither a tensor nor a number"},
      {complex, "its elements are torch.ComplexDoubleStorage"},
      {test::text("much"), "it is a text"}};
  for (const auto& [moments, reason] : cases) {
    for (const bool is_of_all : {false, true}) {
      const OptimizerState state =
          read_entries({{"step", kFive}, {"exp_avg_sq", is_of_all ? moments : kSquare}},
                       {{"step", kFive}, {"exp_avg_sq", moments}});
      const std::string number = is_of_all ? "0" : "1";
      EXPECT_THAT(state.obstacle,
                  HasSubstr("'exp_avg_sq' of '" + number + "' cannot be read: " + reason));
      EXPECT_FALSE(state.has_second_moments());
    }
  }
}

}  // namespace
}  // namespace hesscope
