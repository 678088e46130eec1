// SPDX-License-Identifier: BSD-3-Clause
//
// analyze() of a problem, and of a model that is built here: it knows more about them than about a
// callable.
#include <cstring>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/analysis/analysis.h>
#include <hesscope/analysis/analyze.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/problem/problem.h>
#include <hesscope/tensors/tensor_file.h>

#include "support/decompositions.h"
#include "support/files.h"

namespace hesscope {
namespace {

namespace fs = std::filesystem;

const fs::path kData = fs::path(HESSCOPE_TEST_DATA) / "linear-attention";

// For a problem, the numbers are those of run_analysis(), to the last bit, and so are the files,
// except for the origin of the points.
TEST(Analyze, AProblemsNumbersAreThoseOfTheCommandLine) {
  const test::ScratchFolder folder;
  AnalysisRequest request;
  request.checkpoints = expand_checkpoints({kData / "adam"});
  request.checkpoints.resize(3);
  request.problem = kData / "problem.toml";
  request.output = folder / "theirs.h5";
  request.also = {"eigenpairs", "smoothness"};
  request.command = "a test";
  run_analysis(request);

  const io::TensorFile first = io::open_tensor_file(request.checkpoints[0].path);
  const Problem problem(read_problem_file(request.problem), first);
  std::vector<NamedPoint> points;
  for (const CheckpointFile& checkpoint : request.checkpoints) {
    points.push_back({checkpoint.path.string(),
                      problem.read_parameters(io::open_tensor_file(checkpoint.path)),
                      checkpoint.step});
  }
  const std::vector<std::string> names = {
      "hessian", "spectrum", "condition", "structure", "eigenpairs", "smoothness"};
  analyze(problem, points, names).write(folder / "ours.h5", {.command = "a test"});

  const io::ResultReader theirs(folder / "theirs.h5");
  const io::ResultReader ours(folder / "ours.h5");
  for (const char* attribute : {"title", "problem", "data_sha256", "num_samples", "source"}) {
    EXPECT_EQ(*ours.find_attribute("", attribute), *theirs.find_attribute("", attribute))
        << attribute;
  }
  ASSERT_EQ(ours.groups().size(), theirs.groups().size());
  int num_compared = 0;
  for (const Group& group : theirs.groups()) {
    for (const Variable& variable : group.variables) {
      if (variable.name == "checkpoint_sha256") continue;
      SCOPED_TRACE(group.name + "/" + variable.name);
      const Variable* mine = ours.find(group.name, variable.name);
      ASSERT_NE(mine, nullptr);
      EXPECT_EQ(mine->shape, variable.shape);
      if (variable.type == VariableType::kDouble) {
        const std::vector<double> a = ours.read_doubles(group.name, variable.name);
        const std::vector<double> b = theirs.read_doubles(group.name, variable.name);
        ASSERT_EQ(a.size(), b.size());
        EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(double)), 0);
      } else if (variable.type == VariableType::kText) {
        EXPECT_EQ(ours.read_text(group.name, variable.name),
                  theirs.read_text(group.name, variable.name));
      } else {
        EXPECT_EQ(ours.read_integers(group.name, variable.name),
                  theirs.read_integers(group.name, variable.name));
      }
      ++num_compared;
    }
  }
  EXPECT_GT(num_compared, 100);
}

// A model built here: what analyzers know of models they know of it.
TEST(Analyze, KnowsTheModelOfAGraphObjective) {
  ModelBuilder builder("ridge");
  const Var w = builder.parameter("weight", {3});
  const Var x = builder.array("inputs", {3});
  const Var y = builder.array("target", {});
  const Var z = matmul_tn(w, x);
  builder.set_prediction(z);
  SampleTable samples(4, 4);
  samples << 1, 0, 2, 1, 0, 1, 0, -1, 3, 1, 1, 0, 1, 1, -1, 2;
  const GraphObjective objective(builder.finish(square(z - y)), samples);
  const Analysis analysis =
      analyze(objective, {{"zero", Eigen::VectorXd::Zero(3)}}, {"ggn", "spectrum"});
  // the loss is quadratic: H = G = (2 / 4) X' X
  const Eigen::MatrixXd inputs = samples.leftCols(3);
  const Eigen::VectorXd expected = test::eigenvalues(0.5 * inputs.transpose() * inputs);
  EXPECT_NEAR(analysis[0].number("spectrum", "lambda_max"), expected(2), 1e-14 * expected(2));
  EXPECT_NEAR(analysis[0].number("ggn", "lambda_max"), expected(2), 1e-14 * expected(2));
  const test::ScratchFolder folder;
  analysis.write(folder / "c.h5");
  EXPECT_EQ(std::get<std::string>(*io::ResultReader(folder / "c.h5").find_attribute("", "title")),
            "hesscope analysis of a ridge model");
}

}  // namespace
}  // namespace hesscope
