// SPDX-License-Identifier: BSD-3-Clause
//
// Kinds of models that a program adds to those built in.
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/analysis.h>
#include <hesscope/analysis/analyze.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/problem/problem.h>
#include <hesscope/storage/sha256.h>
#include <hesscope/tensors/checkpoint_file.h>

#include "problem/centred_kind.h"
#include "support/decompositions.h"
#include "support/files.h"

namespace hesscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// (w' x - y)^2 + (penalty / 2) |w|^2
ModelKind ridge(const std::string& name) {
  return {.name = name,
          .keys = {{.name = "penalty",
                    .type = SettingKey::Type::kReal,
                    .meaning = "weight of |w|^2 / 2",
                    .fallback = SettingValue(0.0)}},
          .build = [name](const ModelSources& sources, const TensorShapes& checkpoint) {
            const auto& shape = checkpoint.at("weight", 1, "(inputs)");
            ModelBuilder b(name);
            const Var w = b.parameter("weight", shape);
            const Var x = b.array("inputs", shape);
            const Var y = b.array("target", {});
            const double factor = sources.settings.real("penalty") / 2;
            return b.finish(square(matmul_tn(w, x) - y) + factor * sum(square(w)));
          }};
}

class OwnModel : public ::testing::Test {
 protected:
  // One checkpoint, and four samples, of a model with three parameters.
  void write_files(const std::string& kind) {
    io::write_checkpoint(
        folder_ / "checkpoint.h5", {{{"weight", {3}, weight_}}}, io::Existing::kReplace);
    io::write_checkpoint(folder_ / "data.h5",
                         {{{"inputs", {4, 3}, inputs_}, {"target", {4}, target_}}},
                         io::Existing::kReplace);
    std::ofstream(folder_ / "problem.toml")
        << "[model]\nkind = \"" << kind << "\"\npenalty = 0.5\n[data]\nfile = \"data.h5\"\n";
  }

  test::ScratchFolder folder_;
  const std::vector<double> weight_ = {0.5, -1, 2};
  const std::vector<double> inputs_ = {1, 0, 2, 0, 1, 0, 3, 1, 1, 1, 1, -1};
  const std::vector<double> target_ = {1, -1, 1, 2};
};

TEST_F(OwnModel, IsReadFromProblemFilesAndAnalyzed) {
  register_model_kind(ridge("own-ridge"));
  write_files("own-ridge");
  AnalysisRequest request;
  request.checkpoints = {{folder_ / "checkpoint.h5", {}}};
  request.problem = folder_ / "problem.toml";
  request.output = folder_ / "out.h5";
  request.only = {"spectrum"};
  const AnalysisResult result = run_analysis(request);

  using Rows = Eigen::Matrix<double, 4, 3, Eigen::RowMajor>;
  const Eigen::Map<const Rows> x(inputs_.data());
  const Eigen::Matrix3d h = 2.0 / 4.0 * x.transpose() * x + 0.5 * Eigen::Matrix3d::Identity();
  const Eigen::VectorXd expected = test::eigenvalues(h);
  const std::vector<HeadlineNumber>& numbers = result.checkpoints.at(0).numbers;
  const auto number = [&](const char* name) {
    for (const HeadlineNumber& each : numbers) {
      if (each.name == name) return each.value;
    }
    return kNaN;
  };
  EXPECT_NEAR(number("lambda_min"), expected(0), 1e-14 * expected(2));
  EXPECT_NEAR(number("lambda_max"), expected(2), 1e-14 * expected(2));
}

TEST_F(OwnModel, IsOfferedLikeOthersInRefusals) {
  register_model_kind(ridge("own-lasso"));
  write_files("own-laso");
  EXPECT_THAT([&] { read_problem_file(folder_ / "problem.toml"); },
              ThrowsMessage<ConfigError>(HasSubstr("'own-lasso'")));
}

// (s w' x - y)^2, with s from the file next to the problem file that `file` names.
ModelKind scaled(const std::string& name, bool says_so) {
  return {.name = name,
          .keys = {{.name = "file", .meaning = "a file with a factor", .is_path = true}},
          .build = [name, says_so](const ModelSources& sources, const TensorShapes& checkpoint) {
            const auto& shape = checkpoint.at("weight", 1, "(inputs)");
            const std::filesystem::path path = sources.folder / sources.settings.text("file");
            double factor = kNaN;
            std::ifstream(path) >> factor;
            ModelBuilder b(name);
            const Var w = b.parameter("weight", shape);
            const Var x = b.array("inputs", shape);
            const Var y = b.array("target", {});
            Model model = b.finish(square(factor * matmul_tn(w, x) - y));
            if (says_so) model.files = {{path, io::sha256_of_file(path)}};
            return model;
          }};
}

class OwnModelOfAFile : public OwnModel {
 protected:
  void write_files(const std::string& kind) {
    OwnModel::write_files(kind);
    std::ofstream(folder_ / "factor.txt") << "2\n";
    std::ofstream(folder_ / "problem.toml")
        << "[model]\nkind = \"" << kind
        << "\"\nfile = \"factor.txt\"\n[data]\nfile = \"data.h5\"\n";
  }
};

TEST_F(OwnModelOfAFile, IsFoundBesideTheProblemFileAndRecorded) {
  register_model_kind(scaled("own-scaled", true));
  write_files("own-scaled");
  AnalysisRequest request;
  request.checkpoints = {{folder_ / "checkpoint.h5", {}}};
  request.problem = folder_ / "problem.toml";
  request.output = folder_ / "out.h5";
  request.only = {"spectrum"};
  // Residuals 2 w' x - y of 8, -1, 4, -7.
  EXPECT_EQ(run_analysis(request).checkpoints.at(0).loss, (64 + 1 + 16 + 49) / 4.0);
  const io::ResultReader result(request.output);
  const auto* const digest = result.find_attribute("", "model_sha256");
  ASSERT_NE(digest, nullptr);
  EXPECT_EQ(std::get<std::string>(*digest), io::sha256_of_file(folder_ / "factor.txt"));

  std::ofstream(folder_ / "factor.txt") << "3\n";
  EXPECT_THAT([&] { run_analysis(request); },
              ThrowsMessage<OutputError>(HasSubstr("model_sha256")));

  request.output = folder_ / "factor.txt";
  request.overwrite = io::Overwrite::kAnything;
  EXPECT_THAT([&] { run_analysis(request); },
              ThrowsMessage<ConfigError>(HasSubstr("is an input of the same run")));
}

TEST_F(OwnModelOfAFile, MustSayThatItReadIt) {
  register_model_kind(scaled("own-silent", false));
  write_files("own-silent");
  const io::TensorFile checkpoint = io::open_tensor_file(folder_ / "checkpoint.h5");
  EXPECT_THAT(
      [&] { Problem(read_problem_file(folder_ / "problem.toml"), checkpoint); },
      ThrowsMessage<PreconditionError>(AllOf(HasSubstr("'own-silent'"), HasSubstr("factor.txt"))));
}

TEST_F(OwnModel, IsToldWhatTheFilesHold) {
  ModelKind kind = ridge("own-curious");
  TensorShapes of_checkpoint;
  TensorShapes of_data;
  kind.build = [&, build = kind.build](const ModelSources& sources,
                                       const TensorShapes& checkpoint) {
    of_checkpoint = checkpoint;
    of_data = sources.data;
    return build(sources, checkpoint);
  };
  register_model_kind(kind);
  write_files("own-curious");
  const std::vector<double> labels = {0, 1, 2, 1};
  io::write_checkpoint(folder_ / "data.h5",
                       {{{"inputs", {4, 3}, inputs_},
                         {"target", {4}, target_},
                         {"labels", {4}, labels, io::ElementType::kInt32}}},
                       io::Existing::kReplace);
  const Problem problem(read_problem_file(folder_ / "problem.toml"),
                        io::open_tensor_file(folder_ / "checkpoint.h5"));
  EXPECT_EQ(of_checkpoint.format, "hdf5");
  EXPECT_EQ(of_checkpoint.read("weight"), weight_);
  EXPECT_EQ(of_data.read("inputs"), inputs_);
  EXPECT_TRUE(of_data.has_integers("labels"));
  EXPECT_FALSE(of_data.has_integers("inputs"));
  EXPECT_FALSE(of_data.has_integers("absent"));
  EXPECT_EQ(problem.model_sha256(), "");
}

TEST(OwnBuffers, AreThoseOfEachCheckpointAnalyzed) {
  const test::CentredFiles files;
  AnalysisRequest request;
  request.checkpoints = {{files.checkpoint("step-0.h5", {0.5, 1}), {}},
                         {files.checkpoint("step-1.h5", {-1, 2}), {}},
                         {files.checkpoint("step-2.h5", {0.5, 1}, {3, 4}), {}}};
  request.problem = files.problem();
  request.output = files.folder() / "out.h5";
  request.only = {"spectrum"};
  const AnalysisResult result = run_analysis(request);
  EXPECT_EQ(result.checkpoints.at(0).loss, test::CentredFiles::loss({0.5, 1}));
  EXPECT_EQ(result.checkpoints.at(1).loss, test::CentredFiles::loss({-1, 2}));
  EXPECT_EQ(result.checkpoints.at(2).loss, test::CentredFiles::loss({0.5, 1}, {3, 4}));
  // H = 2/2 sum (x - m)(x - m)'.
  const io::ResultReader file(request.output);
  const auto largest = file.read_doubles("spectrum", "lambda_max");
  const auto expected = [](const Eigen::Vector2d& m) {
    const Eigen::Vector2d a = Eigen::Vector2d(1, 0) - m;
    const Eigen::Vector2d b = Eigen::Vector2d(0, 3) - m;
    const Eigen::Matrix2d h = a * a.transpose() + b * b.transpose();
    return test::eigenvalues(h)(1);
  };
  EXPECT_NEAR(largest.at(0), expected({0.5, 1}), 1e-13);
  EXPECT_NEAR(largest.at(1), expected({-1, 2}), 1e-13);
  EXPECT_NEAR(largest.at(2), expected({0.5, 1}), 1e-13);
}

TEST(RegisterModelKind, RefusesWhatCannotBeNamedOrBuilt) {
  const auto refusal = [](ModelKind kind, const char* text) {
    EXPECT_THAT([&] { register_model_kind(kind); },
                ThrowsMessage<PreconditionError>(HasSubstr(text)));
  };
  refusal(ridge("mlp"), "kind 'mlp' is there already");
  refusal(ridge(""), "no file can say");
  refusal({.name = "own-empty"}, "no function `build`");
  ModelKind twice = ridge("own-twice");
  twice.keys.push_back(twice.keys.front());
  refusal(twice, "two keys 'penalty'");
  ModelKind kind = ridge("own-kind");
  kind.keys.front().name = "kind";
  refusal(kind, "two keys 'kind'");
  EXPECT_EQ(find_model_kind("own-empty"), nullptr);
}

TEST(RegisterModelKind, WithoutCreateItSaysThatItCannotBeTrained) {
  register_model_kind(ridge("own-untrained"));
  EXPECT_THAT(
      [] {
        find_model_kind("own-untrained")->create({Settings(), TensorShapes()});
      },
      ThrowsMessage<ConfigError>(AllOf(HasSubstr("own-untrained"), HasSubstr("`create`"))));
}

TEST(RegisterModelKind, LeavesAloneWhoLooksAtKindsMeanwhile) {
  const auto before = model_kinds();
  const ModelKind* mlp = find_model_kind("mlp");
  std::atomic<bool> is_done = false;
  std::thread reader([&] {
    while (!is_done) {
      for (const ModelKind& kind : model_kinds()) ASSERT_FALSE(kind.name.empty());
      ASSERT_NE(find_model_kind("mlp"), nullptr);
    }
  });
  for (int i = 0; i < 50; ++i) register_model_kind(ridge("own-many-" + std::to_string(i)));
  is_done = true;
  reader.join();
  EXPECT_EQ(model_kinds().size(), before.size() + 50);
  EXPECT_EQ(mlp->name, "mlp");  // what was found stays
  EXPECT_EQ(before.front().name, "linear-attention");
  EXPECT_NE(find_model_kind("own-many-49"), nullptr);
}

}  // namespace
}  // namespace hesscope
