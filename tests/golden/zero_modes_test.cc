// SPDX-License-Identifier: BSD-3-Clause
//
// Every zero eigenvalue of every fixture follows from an invariance of its model.
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/problem/problem.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/spectra/spectrum.h>
#include <hesscope/spectra/zero_modes.h>
#include <hesscope/tensors/tensor_file.h>

#include "golden/goldens.h"

namespace hesscope {
namespace {

using test::Golden;

struct Expected {
  std::int64_t dead;
  std::vector<std::int64_t> by_family;
};

// Attention: (D - 1)(d - 1) directions per head in which WV moves across WO and against no
// gradient, D = 4, d = 3; signal-noise: (2 m_v - 1) d with m_v = 3, d = 10; mlp: one shift of the
// logits per input of the last layer and one of the biases, and so for the classifiers' heads, D =
// 3; linear attention: the last layer's P, if full without the row of the labels.
const std::map<std::string, Expected>& expected() {
  static const std::map<std::string, Expected> counts = {
      {"attention-classifier-gaussian", {0, {0, 0, 0, 0, 4}}},
      {"attention-classifier-softmax", {0, {0, 0, 0, 4}}},
      {"attention-gaussian", {0, {0, 12}}},
      {"attention-softmax", {0, {0, 12}}},
      {"linear-attention-full-s3", {30, {0}}},
      {"linear-attention-mlp", {6, {0, 0, 0}}},
      {"linear-attention-s1-adam", {25, {}}},
      {"linear-attention-s1-sgdm", {25, {}}},
      {"linear-attention-softmax", {9, {}}},
      {"mlp-spirals-gelu", {0, {11}}},
      {"mlp-spirals-tanh", {0, {13}}},
      {"signal-noise", {0, {0, 50}}},
  };
  return counts;
}

class GoldenZeroModes : public testing::TestWithParam<Golden> {};

TEST_P(GoldenZeroModes, AreAllExplained) {
  const io::TensorFile checkpoint = io::open_tensor_file(GetParam().checkpoint(".h5"));
  const Problem problem(read_problem_file(GetParam().folder / "problem.toml"), checkpoint);
  const Objective& objective = problem.objective();
  const Eigen::VectorXd theta = problem.read_parameters(checkpoint);
  const Eigen::VectorXd gradient = objective.gradient(theta);
  const Eigen::MatrixXd hessian = objective.hessian(theta);
  const Spectrum spectrum = dense_spectrum(hessian);
  ASSERT_EQ(spectrum.status, Status::kOk);

  const ZeroModes modes = explain_zero_modes(
      theta, gradient, objective.invariances(), hessian, spectrum, {.want_basis = true});
  const Expected& counts = expected().at(GetParam().folder.filename().string());
  EXPECT_EQ(modes.status, Status::kOk);
  EXPECT_EQ(modes.num_dead, counts.dead);
  EXPECT_EQ(modes.num_dead, spectrum.num_dead);
  std::vector<std::int64_t> by_family;
  for (const ZeroModesOfFamily& family : modes.families) by_family.push_back(family.num_explained);
  EXPECT_EQ(by_family, counts.by_family);
  EXPECT_EQ(modes.num_explained, spectrum.num_zero);
  EXPECT_EQ(modes.num_unconfirmed, 0);
  EXPECT_EQ(modes.num_unexplained, 0);

  // No decision was near.
  if (!std::isnan(modes.smallest_refused)) {
    EXPECT_GT(modes.smallest_refused, 1e8 * spectrum.rounding_band);
  }
  if (!std::isnan(modes.largest_dependence)) {
    EXPECT_LT(modes.largest_dependence, 1e-14);
  }
  if (!std::isnan(modes.smallest_pivot)) {
    EXPECT_GT(modes.smallest_pivot, 0.1);
  }

  const Eigen::MatrixXd& W = modes.basis;
  ASSERT_EQ(W.rows(), theta.size());
  ASSERT_EQ(W.cols(), modes.num_explained);
  EXPECT_TRUE((W.transpose() * W - Eigen::MatrixXd::Identity(W.cols(), W.cols())).norm() <= 1e-13);
  EXPECT_TRUE((hessian * W).colwise().norm().maxCoeff<Eigen::PropagateNaN>() <=
              spectrum.rounding_band);
}

INSTANTIATE_TEST_SUITE_P(Fixtures,
                         GoldenZeroModes,
                         testing::ValuesIn(test::goldens()),
                         test::golden_name);

}  // namespace
}  // namespace hesscope
