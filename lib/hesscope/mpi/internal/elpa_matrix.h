// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

#include <hesscope/core/team.h>
#include <hesscope/mpi/internal/scalapack_matrix.h>

namespace hesscope::detail {

/// Decomposed by ELPA, in one stage, into all eigenvalues and eigenvectors: T is diagonal, and Q
/// has the vectors. All else is ScaLAPACK's. ELPA reads both triangles and checks neither, and
/// fails where a process has no rows.
class ElpaMatrix : public ScalapackMatrix {
 public:
  /// A call of all ranks. @throws ConfigError also where a process would have no rows.
  ElpaMatrix(Team& team, int grid, Eigen::Index n, bool with_vectors);

  /// NaN where ELPA fails.
  Tridiagonal tridiagonalize() override;
  Eigen::MatrixXd apply_q(const Eigen::MatrixXd& v) override;

 protected:
  bool find_vectors() override { return true; }

 private:
  // Gives work(), a lower triangle with zeros above, its upper one.
  void fill_upper_triangle();

  // Of work(), which is lost, on the ranks of the grid. @returns whether ELPA says that it
  // succeeded.
  bool decompose(Eigen::VectorXd& values);
};

}  // namespace hesscope::detail
