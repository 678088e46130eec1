// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

#include <hesscope/core/team.h>
#include <hesscope/mpi/internal/scalapack_matrix.h>

namespace hesscope::detail {

/// Decomposed by ELPA, in one stage, into all eigenvalues and eigenvectors: T is diagonal, and Q
/// holds the vectors. Everything else is done by ScaLAPACK. ELPA reads both triangles without
/// checking them, and fails if a process has no rows.
class ElpaMatrix : public ScalapackMatrix {
 public:
  /// A call of all ranks. @throws ConfigError also if a process would have no rows.
  ElpaMatrix(Team& team, int grid, Eigen::Index n, bool with_vectors);

  /// NaN if ELPA fails.
  Tridiagonal tridiagonalize() override;
  Eigen::MatrixXd apply_q(const Eigen::MatrixXd& v) override;

 protected:
  bool find_vectors() override { return true; }

 private:
  // Copies the lower triangle of work() to its upper one, which holds zeros.
  void fill_upper_triangle();

  // Decomposes work(), which is overwritten, on the ranks of the grid. @returns whether ELPA
  // reports success.
  bool decompose(Eigen::VectorXd& values);
};

}  // namespace hesscope::detail
