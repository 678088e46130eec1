// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include <mpi.h>

#include <Eigen/Core>

#include <hesscope/core/team.h>
#include <hesscope/mpi/internal/block_cyclic.h>
#include <hesscope/spectra/internal/distributed_matrix.h>

namespace hesscope::detail {

/// By ScaLAPACK. Only lower triangles are read and written.
class ScalapackMatrix final : public DistributedMatrix {
 public:
  /// A call of all ranks. @throws as DistributedSolver::matrix().
  ScalapackMatrix(Team& team, int grid, Eigen::Index n);
  ~ScalapackMatrix() override;
  ScalapackMatrix(const ScalapackMatrix&) = delete;
  ScalapackMatrix& operator=(const ScalapackMatrix&) = delete;

  void fill(const Columns& columns, const ProgressCallback& progress) override;
  Content content() const override;
  void scale(int exponent) override;
  double frobenius_norm() const override;
  Tridiagonal tridiagonalize() override;
  Eigen::MatrixXd apply_q(const Eigen::MatrixXd& v) override;
  Eigen::MatrixXd times(const Eigen::MatrixXd& v) const override;
  bool is_positive_definite(double sign, double shift) override;

 private:
  using Descriptor = std::array<int, 9>;

  bool is_in_grid() const { return communicator_ != MPI_COMM_NULL; }

  Descriptor descriptor(Eigen::Index cols) const;

  struct Round;
  // The columns that this process has computed as they are sent, and room for those it receives.
  Round prepared(Eigen::Index first_task, Eigen::Index width, const Eigen::MatrixXd& own) const;
  void exchange(Eigen::Index first_task, Eigen::Index width, Round& round);

  template <typename Call>
  void on_grid(const Call& call) const;
  template <typename Routine>
  void run_with_workspace(const char* name, const Routine& routine);

  // Calls use(i, j, entry) for this process's entries in the lower triangle, column by column.
  template <typename Matrix, typename Use>
  void for_each_entry(Matrix& matrix, Use use) const;

  // A dense n x k matrix, k at most a block, as its processes have it, and back to all ranks.
  std::vector<double> local_part(const Eigen::MatrixXd& whole) const;
  Eigen::MatrixXd whole_of(const std::vector<double>& part, Eigen::Index cols) const;

  Team& team_;
  Eigen::Index n_;
  int grid_;
  BlockCyclic layout_;
  MPI_Comm communicator_ = MPI_COMM_NULL;  // of the grid's ranks
  int handle_ = -1;                        // BLACS's of that
  int context_ = -1;                       // of the grid
  int row_ = -1;                           // of this process in it
  int col_ = -1;
  Eigen::Index local_rows_ = 0;
  Eigen::Index local_cols_ = 0;
  std::vector<double> h_;     // this process's entries, column by column
  std::vector<double> work_;  // the same of what H has been made
  std::vector<double> tau_;   // scales of Q's reflectors, of which work_ has the vectors
};

}  // namespace hesscope::detail
