// SPDX-License-Identifier: BSD-3-Clause
//
// Gradient noise by its definitions: one sample at a time, explicit loops, everything held.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/objective/objective.h>
#include <hesscope/problem/problem.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/tensors/tensor_file.h>

#include "support/files.h"
#include "support/matrices.h"
#include "support/quadratic_objective.h"

namespace hesscope::test {

/// Gradients of single samples, as gradients over ranges of one sample.
inline Eigen::MatrixXd naive_gradients(const Objective& objective, const Eigen::VectorXd& theta) {
  Eigen::MatrixXd gradients(theta.size(), objective.num_samples());
  for (Eigen::Index i = 0; i < gradients.cols(); ++i) {
    gradients.col(i) = objective.gradient(theta, {i, i + 1});
  }
  return gradients;
}

inline Eigen::MatrixXd naive_covariance(const Eigen::MatrixXd& gradients) {
  const Eigen::VectorXd mean = gradients.rowwise().mean();
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(gradients.rows(), gradients.rows());
  for (Eigen::Index i = 0; i < gradients.cols(); ++i) {
    const Eigen::VectorXd d = gradients.col(i) - mean;
    for (Eigen::Index j = 0; j < d.size(); ++j) {
      for (Eigen::Index k = 0; k < d.size(); ++k) sum(j, k) += d[j] * d[k];
    }
  }
  return sum / static_cast<double>(gradients.cols() - 1);
}

/// Samples of n x n random symmetric matrices: gradients A_i theta, Hessians A_i.
inline QuadraticObjective random_quadratic(Eigen::Index n, int num_samples, std::uint64_t seed) {
  std::vector<Eigen::MatrixXd> matrices;
  for (int i = 0; i < num_samples; ++i) {
    matrices.push_back(random_symmetric(n, seed + static_cast<std::uint64_t>(i)) +
                       2.0 * Eigen::MatrixXd::Identity(n, n));
  }
  return QuadraticObjective(std::move(matrices));
}

/// A problem of tests/fixtures at one of its checkpoints.
class FixturePoint {
 public:
  FixturePoint(const std::string& folder, const std::string& step, int num_threads = 0)
      : checkpoint_(io::open_tensor_file(fixtures() / folder / ("step-" + step + ".h5"))),
        problem_(read_problem_file(fixtures() / folder / "problem.toml"), checkpoint_, num_threads),
        theta(problem_.read_parameters(checkpoint_)) {}

  const Objective& objective() const { return problem_.objective(); }

 private:
  io::TensorFile checkpoint_;
  Problem problem_;

 public:
  const Eigen::VectorXd theta;
};

}  // namespace hesscope::test
