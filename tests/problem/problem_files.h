// SPDX-License-Identifier: BSD-3-Clause
//
// Problems of small models as files, changed in one place or another.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/problem/problem.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/tensors/tensor_file.h>

#include "problem/npz_writer.h"
#include "support/files.h"

namespace hesscope::test {

inline const std::string kPerceptron =
    "[model]\nkind = \"mlp\"\nactivation = \"tanh\"\nloss = \"cross-entropy\"\n";
inline const std::string kMlpMse =
    "[model]\nkind = \"mlp\"\nactivation = \"tanh\"\nloss = \"mse\"\n";

using Tensors = std::map<std::string, Tensor>;

/// A problem, its data and a checkpoint as files in a folder of their own.
class ProblemTest : public testing::Test {
 protected:
  Problem load(const std::string& model, const Tensors& checkpoint, const Tensors& data) const {
    write_bytes(folder_ / "problem.toml", model + "[data]\nfile = \"data.npz\"\n");
    write_npz(checkpoint_, checkpoint);
    write_npz(data_, data);
    return {read_problem_file(folder_ / "problem.toml"), io::open_tensor_file(checkpoint_), 1};
  }

  /// That they are refused, in words that begin with the file at fault and have all parts.
  template <typename... Parts>
  void expect_error(const std::string& model,
                    const Tensors& checkpoint,
                    const Tensors& data,
                    const std::filesystem::path& culprit,
                    const Parts&... parts) const {
    try {
      load(model, checkpoint, data);
      ADD_FAILURE() << "accepted";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(),
                  testing::AllOf(testing::StartsWith(culprit.string() + ": "),
                                 testing::HasSubstr(parts)...));
    }
  }

  /// A 2-3-2 network and four samples.
  static Tensors network() {
    return {{"layers.0.weight", {{3, 2}, {0.5, 1, -1, 0.25, 2, 1}}},
            {"layers.0.bias", {{3}, {0.1, 0.2, 0.3}}},
            {"layers.1.weight", {{2, 3}, {1, -1, 0.5, 0.25, 1, 2}}},
            {"layers.1.bias", {{2}, {-0.5, 0.5}}}};
  }

  static Tensors points() {
    return {{"inputs", {{4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}}, {"target", {{4}, {0, 1, 1, 0}}}};
  }

  static Tensors with(Tensors tensors, const std::string& name, const Tensor& tensor) {
    tensors[name] = tensor;
    return tensors;
  }

  static Tensors without(Tensors tensors, const std::string& name) {
    tensors.erase(name);
    return tensors;
  }

  ScratchFolder folder_;
  const std::filesystem::path checkpoint_ = folder_ / "step-000000.npz";
  const std::filesystem::path data_ = folder_ / "data.npz";
};

}  // namespace hesscope::test
