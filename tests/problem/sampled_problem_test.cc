// SPDX-License-Identifier: BSD-3-Clause
//
// Problems whose data are drawn.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/problem/problem.h>
#include <hesscope/sampling/linear_regression.h>
#include <hesscope/storage/sha256.h>
#include <hesscope/tensors/tensor_file.h>

#include "problem/npz_writer.h"
#include "support/files.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

const std::string kSampledModel = "[model]\nkind = \"linear-attention\"\nlayers = 2\n";
const std::string kSampledData =
    "[data]\nkind = \"linear-regression\"\ndimension = 2\ncontext = 3\nsamples = 150\n";

class SampledProblemTest : public testing::Test {
 protected:
  ProblemFile parse(const std::string& text) const {
    test::write_bytes(path_, text);
    return read_problem_file(path_);
  }

  Problem load(const std::string& text, int num_threads = 1) const {
    std::map<std::string, test::Tensor> weights;
    double next = 0.1;
    for (const char* name : {"layers.0.P", "layers.0.Q", "layers.1.P", "layers.1.Q"}) {
      weights[name] = {{2, 2}, {next, 0.2, -0.3, next + 0.1}};
      next += 0.3;
    }
    test::write_npz(folder_ / "step.npz", weights);
    return {parse(text), io::open_tensor_file(folder_ / "step.npz"), num_threads};
  }

  test::ScratchFolder folder_;
  const std::filesystem::path path_ = folder_ / "problem.toml";
};

TEST_F(SampledProblemTest, IsThatOfAFileWithTheSameSamples) {
  const Problem drawn = load(kSampledModel + kSampledData + "seed = 7\n", 3);
  test::Tensor z = {{150, 3, 4}, {}};
  test::Tensor target = {{150}, {}};
  const LinearRegression sampler({.dimension = 2, .context = 3});
  std::string bytes;
  for (std::uint64_t i = 0; i < 150; ++i) {
    std::vector<double> record(13);
    sampler.draw(7, Stream::kEvaluation, i, record);
    z.values.insert(z.values.end(), record.begin(), record.end() - 1);
    target.values.push_back(record.back());
    bytes.append(reinterpret_cast<const char*>(record.data()), 13 * sizeof(double));
  }
  test::write_npz(folder_ / "data.npz", {{"Z", z}, {"target", target}});
  const Problem from_file = load(kSampledModel + "[data]\nfile = \"data.npz\"\n");
  const Eigen::VectorXd theta = drawn.read_parameters(io::open_tensor_file(folder_ / "step.npz"));
  EXPECT_EQ(drawn.objective().num_samples(), 150);
  EXPECT_EQ(drawn.objective().value(theta), from_file.objective().value(theta));
  EXPECT_EQ(drawn.objective().gradient(theta), from_file.objective().gradient(theta));
  EXPECT_EQ(drawn.data_sha256(), io::sha256_of_text(bytes));  // of a little-endian machine

  ASSERT_NE(drawn.fresh_samples(), nullptr);
  EXPECT_EQ(from_file.fresh_samples(), nullptr);
  const auto same = drawn.fresh_samples()->value_and_gradient(
      theta, {.seed = 7, .stream = Stream::kEvaluation, .first = 0, .count = 150});
  EXPECT_EQ(same.value, drawn.objective().value(theta));
}

TEST_F(SampledProblemTest, IdentifiesItsDataByWhatIsDrawn) {
  const std::string digest = load(kSampledModel + kSampledData).data_sha256();
  EXPECT_EQ(load(kSampledModel + kSampledData + "seed = 0\n", 4).data_sha256(), digest);
  EXPECT_NE(load(kSampledModel + kSampledData + "seed = 1\n").data_sha256(), digest);
  EXPECT_NE(load(kSampledModel + kSampledData + "covariates = \"sphere\"\n").data_sha256(), digest);
}

TEST_F(SampledProblemTest, SpellsItsSettingsOut) {
  const ProblemFile problem = parse(kSampledModel + kSampledData);
  EXPECT_EQ(problem.sampler_kind, "linear-regression");
  EXPECT_TRUE(problem.has_sampler());
  EXPECT_TRUE(problem.data_files.empty());
  EXPECT_EQ(problem.data.integer("seed"), 0);
  EXPECT_EQ(problem.data.text("covariates"), "gaussian");
  EXPECT_FALSE(problem.data.has("gamma_shape"));
  const ProblemFile again = parse(problem.resolved_toml());
  EXPECT_EQ(again.data.values(), problem.data.values());
  EXPECT_EQ(again.resolved_toml(), problem.resolved_toml());

  const ProblemFile images = parse(kSampledModel +
                                   "[data]\nkind = \"noisy-images\"\nimages = \"a\"\nlabels = "
                                   "\"b\"\nnoise_std = 1\nsamples = 2\n");
  EXPECT_THAT(images.data_files, testing::ElementsAre(folder_.path() / "a", folder_.path() / "b"));
}

TEST_F(SampledProblemTest, NamesWhatIsWrong) {
  const auto refuse = [&](const std::string& data, int line, const std::string& message) {
    const std::string place = path_.string() + ":" + std::to_string(line) + ": ";
    test::expect_refusal<ConfigError>([&] { parse(kSampledModel + data); }, place + message);
  };
  refuse("[data]\nkind = \"linear-regresion\"\nsamples = 1\n", 5, "'kind' must be one of");
  refuse("[data]\nkind = \"linear-regression\"\nsamples = 0\n", 6, "'samples' must be");
  refuse(kSampledData + "seed = -1\n", 9, "'seed' must be at least 0");
  refuse(kSampledData + "covariate = \"sphere\"\n",
         9,
         "unknown key 'covariate' in [data] of kind "
         "'linear-regression' (did you mean 'covariates'?)");
  refuse(kSampledData + "file = \"x.npz\"\n", 9, "unknown key 'file'");
  refuse("[data]\nkind = \"signal-noise\"\n", 4, "[data] of kind 'signal-noise' needs the key");
  test::expect_refusal<ConfigError>(
      [&] { load(kSampledModel + kSampledData + "gamma_shape = 1\n"); },
      path_.string() + ":9: covariates = \"gaussian\" does not take the key 'gamma_shape'");
  test::expect_refusal<InputError>(
      [&] {
        load(kSampledModel +
             "[data]\nkind = \"attention-regression\"\nsequence = 2\nembedding = 2\nsamples = 3\n");
      },
      path_.string() + ": [data] of kind 'attention-regression': no tensor 'Z'");
  // The dimension of a checkpoint of another problem.
  test::expect_refusal<InputError>(
      [&] {
        load(kSampledModel +
             "[data]\nkind = \"linear-regression\"\ndimension = 3\ncontext = 2\nsamples = 3\n");
      },
      "tensor 'layers.0.P': expected shape (3, 3), found (2, 2)");
}

}  // namespace
}  // namespace hesscope
