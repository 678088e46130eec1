// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/problem/checkpoint_buffers.h>
#include <hesscope/problem/problem.h>

#include "problem/centred_kind.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using test::CentredFiles;
using test::expect_refusal;

Problem load(const CentredFiles& files, const std::filesystem::path& first) {
  return {read_problem_file(files.problem()), io::open_tensor_file(first)};
}

double loss_at(const Problem& problem, const std::filesystem::path& path) {
  const io::TensorFile checkpoint = io::open_tensor_file(path);
  return problem.objective_at(checkpoint).objective->value(problem.read_parameters(checkpoint));
}

TEST(CheckpointBuffers, AreOfEachCheckpointOnTheSameSamples) {
  const CentredFiles files;
  const auto first = files.checkpoint("a.h5", {0.5, 1});
  const auto other = files.checkpoint("b.h5", {-1, 2});
  const Problem problem = load(files, first);
  EXPECT_EQ(loss_at(problem, first), CentredFiles::loss({0.5, 1}));
  EXPECT_EQ(loss_at(problem, other), CentredFiles::loss({-1, 2}));
  EXPECT_NE(CentredFiles::loss({0.5, 1}), CentredFiles::loss({-1, 2}));
  const auto found = problem.objective_at(io::open_tensor_file(other));
  EXPECT_EQ(found.objective->samples().data(), problem.samples().data());
  EXPECT_EQ(found.objective->model().buffers.at(0).values, (std::vector<double>{-1, 2}));
  EXPECT_EQ(found.fresh_samples, nullptr);
}

TEST(CheckpointBuffers, ThatAreEqualMakeNoOtherObjective) {
  const CentredFiles files;
  const Problem problem = load(files, files.checkpoint("a.h5", {0.5, 1}));
  const auto same = io::open_tensor_file(files.checkpoint("b.h5", {0.5, 1}, {3, 4}));
  EXPECT_EQ(problem.read_buffers(same), nullptr);
  EXPECT_EQ(problem.objective_at(same).objective.get(), &problem.objective());
}

TEST(CheckpointBuffers, ThatACheckpointLacksAreThoseTheKindTakes) {
  const CentredFiles files;
  const auto without = files.checkpoint("b.h5", {});
  EXPECT_EQ(loss_at(load(files, files.checkpoint("a.h5", {0.5, 1})), without),
            CentredFiles::loss({0, 0}));
  const Problem problem = load(files, without);
  const io::TensorFile checkpoint = io::open_tensor_file(without);
  EXPECT_EQ(problem.objective_at(checkpoint).objective.get(), &problem.objective());
}

TEST(CheckpointBuffers, ThatAreNotNumbersEqualThemselves) {
  const CentredFiles files;
  const auto first = files.checkpoint("a.h5", {std::nan(""), 1});
  const Problem problem = load(files, first);
  EXPECT_EQ(problem.read_buffers(io::open_tensor_file(first)), nullptr);
  const auto zero = io::open_tensor_file(files.checkpoint("b.h5", {0.0, 1}));
  EXPECT_NE(problem.read_buffers(zero), nullptr);
}

TEST(CheckpointBuffers, AreOthersWhereBothCheckpointsHaveThem) {
  const CentredFiles files;
  const Problem problem = load(files, files.checkpoint("a.h5", {0.5, 1}));
  const auto read = [&](const std::vector<double>& mean) {
    return problem.read_buffers(io::open_tensor_file(files.checkpoint("b.h5", mean)));
  };
  const auto others = read({2, 1});
  const auto none = read({});
  const Model& model = problem.model();
  EXPECT_TRUE(are_other_buffers(model, nullptr, others.get()));
  EXPECT_TRUE(are_other_buffers(model, read({3, 1}).get(), others.get()));
  EXPECT_FALSE(are_other_buffers(model, others.get(), others.get()));
  EXPECT_FALSE(are_other_buffers(model, none.get(), others.get()));
  EXPECT_FALSE(are_other_buffers(model, nullptr, nullptr));
}

TEST(CheckpointBuffers, AreCheckedLikeParameters) {
  const Model model = test::centred_kind().build({Settings(), {"d.h5", {{"inputs", {2, 2}}}}},
                                                 {.source = "c.h5", .shapes = {{"weight", {2}}}});
  const auto require = [&](const std::string& name,
                           const std::vector<std::int64_t>& shape,
                           io::ElementType type) {
    require_parameters(
        model,
        {.source = "c.h5", .shapes = {{"weight", {2}}, {name, shape}}, .types = {{name, type}}});
  };
  require("norm.running_mean", {2}, io::ElementType::kFloat32);
  require("norm.num_batches_tracked", {}, io::ElementType::kInt64);
  require("num_batches_tracked", {}, io::ElementType::kInt64);
  expect_refusal<InputError>([&] { require("norm.running_mean", {3}, io::ElementType::kFloat32); },
                             "c.h5: tensor 'norm.running_mean': expected shape (2,), found (3,)");
  expect_refusal<InputError>(
      [&] { require("norm.num_batches_tracked", {}, io::ElementType::kFloat32); },
      "is no parameter");
  expect_refusal<InputError>(
      [&] { require("my_num_batches_tracked", {}, io::ElementType::kInt64); }, "is no parameter");
}

// Whose file is another one each time that it is read, or whose parameters are.
ModelKind changing_kind(const std::string& name, bool changes_file) {
  return {.name = name,
          .build = [changes_file, count = std::make_shared<int>(0)](
                       const ModelSources& sources, const TensorShapes& checkpoint) {
            ++*count;
            Model model = test::centred_kind().build(sources, checkpoint);
            if (changes_file) model.files = {{"a.onnx", std::to_string(*count)}};
            if (!changes_file && *count > 1) model.parameters[0].name = "another";
            return model;
          }};
}

TEST(CheckpointBuffers, AreRefusedWhereTheModelIsNotTheSame) {
  const CentredFiles files;
  const auto first = files.checkpoint("a.h5", {0.5, 1});
  const auto other = files.checkpoint("b.h5", {-1, 2});
  register_model_kind(changing_kind("changing-file", true));
  register_model_kind(changing_kind("changing-parameters", false));
  const auto with = [&](const std::string& kind) {
    std::ofstream(files.problem())
        << "[model]\nkind = \"" << kind << "\"\n[data]\nfile = \"data.h5\"\n";
    load(files, first).objective_at(io::open_tensor_file(other));
  };
  expect_refusal<InputError>([&] { with("changing-file"); }, "a.onnx: has changed since");
  expect_refusal<PreconditionError>([&] { with("changing-parameters"); },
                                    "builds a model of other parameters");
}

}  // namespace
}  // namespace hesscope
