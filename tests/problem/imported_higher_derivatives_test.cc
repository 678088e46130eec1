// SPDX-License-Identifier: BSD-3-Clause
//
// T[u, v] of imported models, and their derivatives along lines, against 50 digits.
#include <filesystem>
#include <string>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/objective/graph_objective.h>
#include <hesscope/problem/problem.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/tensors/format_registry.h>

#include "support/files.h"
#include "support/graph_oracle.h"
#include "support/numbers.h"
#include "support/sweep_derivatives.h"

namespace hesscope {
namespace {

class ImportedHigherDerivatives : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Models,
                         ImportedHigherDerivatives,
                         testing::Values("cnn/step-000120.npz",
                                         "lstm/step-000120.npz",
                                         "gpt/step-000060.npz"),
                         [](const auto& test) {
                           const std::string path = test.param;
                           return path.substr(0, path.find('/'));
                         });

TEST_P(ImportedHigherDerivatives, AreThoseOfFiftyDigits) {
  const std::filesystem::path path = test::fixtures() / "onnx-models" / GetParam();
  const io::TensorFile checkpoint = io::open_tensor_file(path);
  const Problem problem(
      read_problem_file(path.parent_path() / "problem.toml"), checkpoint, /*num_threads=*/1);
  const GraphObjective& objective = problem.objective();
  const Eigen::VectorXd theta = problem.read_parameters(checkpoint);
  const Eigen::MatrixXd u = test::Numbers(1).table(theta.size(), 1);
  const Eigen::MatrixXd v = test::Numbers(2).table(theta.size(), 1);
  const SampleTable samples = objective.samples().topRows(2);

  // With unit length, because the differences take fixed steps along it.
  const Eigen::MatrixXd direction = v / v.norm();
  test::expect_near_rows(
      objective.line_derivatives(theta, direction, {0, 2}),
      multiprecision_line_derivatives(
          *problem.model().graph, test::span_of(theta), test::records_of(samples), direction),
      1e-12,
      "50 digits");

  const Eigen::MatrixXd T = objective.third_derivative_times(theta, u, v, {0, 2});
  EXPECT_GT(T.norm(), 0);
  test::expect_near_columns(
      T,
      multiprecision_third_derivative_times(
          *problem.model().graph, test::span_of(theta), test::records_of(samples), u, v),
      1e-12,
      "50 digits");
}

}  // namespace
}  // namespace hesscope
