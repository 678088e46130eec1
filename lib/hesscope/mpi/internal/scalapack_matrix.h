// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <Eigen/Core>

#include <hesscope/core/team.h>
#include <hesscope/mpi/internal/grid_matrix.h>

namespace hesscope::detail {

/// Decomposed by ScaLAPACK. Only lower triangles are read and written, except for vectors.
class ScalapackMatrix : public GridMatrix {
 public:
  using GridMatrix::GridMatrix;

  Tridiagonal tridiagonalize() override;
  Eigen::MatrixXd apply_q(const Eigen::MatrixXd& v) override;
  VectorErrors vector_errors(const Eigen::VectorXd& values) final;
  Eigen::MatrixXd times(const Eigen::MatrixXd& v) const final;
  bool is_positive_definite(double sign, double shift) final;

 protected:
  /// Stores all eigenvectors, in ascending order of the eigenvalues, in vectors(). @returns whether
  /// they were found.
  virtual bool find_vectors();

  /// This process's entries of n x n matrices, column by column: the eigenvectors of H, and the
  /// matrix to which H has been reduced.
  std::vector<double>& vectors() { return vectors_; }

  std::vector<double>& work() { return work_; }

 private:
  // For matrices of so many columns that are distributed like H.
  void multiply_by_q(std::vector<double>& part, Eigen::Index cols);
  void multiply_by_h(const std::vector<double>& part,
                     Eigen::Index cols,
                     std::vector<double>& product) const;

  double residual_of_vectors(const Eigen::VectorXd& values);
  double orthogonality_of_vectors();

  Tridiagonal t_;
  std::vector<double> work_;
  std::vector<double> tau_;  // scales of Q's reflectors, whose vectors are in work_
  std::vector<double> vectors_;
};

}  // namespace hesscope::detail
