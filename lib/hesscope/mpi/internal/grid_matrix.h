// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <mpi.h>

#include <Eigen/Core>

#include <hesscope/core/team.h>
#include <hesscope/mpi/internal/block_cyclic.h>
#include <hesscope/spectra/internal/distributed_matrix.h>

namespace hesscope::detail {

inline int to_int(Eigen::Index number) { return static_cast<int>(number); }

inline std::size_t to_size(Eigen::Index number) { return static_cast<std::size_t>(number); }

/// @throws std::logic_error for a negative `info` of ScaLAPACK's.
void require_accepted(const char* routine, int info);

/// All ranks get vectors of which each entry is on one of them, and zero on the others: exact in
/// any order.
void gather(double* numbers, Eigen::Index count);

/// H as ScaLAPACK wants it, block by block on the first grid x grid ranks, without what is made of
/// it: that is left to libraries that take this layout. Only the lower triangle is filled.
class GridMatrix : public DistributedMatrix {
 public:
  /// A call of all ranks. @throws as DistributedSolver::matrix().
  GridMatrix(Team& team, int grid, Eigen::Index n, bool with_vectors);
  ~GridMatrix() override;
  GridMatrix(const GridMatrix&) = delete;
  GridMatrix& operator=(const GridMatrix&) = delete;

  void fill(const Columns& columns, const ProgressCallback& progress) override;
  Content content() const override;
  void scale(int exponent) override;
  double frobenius_norm() const override;

 protected:
  using Descriptor = std::array<int, 9>;

  Team& team() const { return team_; }

  Eigen::Index num_rows() const { return n_; }

  bool is_in_grid() const { return communicator_ != MPI_COMM_NULL; }

  MPI_Comm communicator() const { return communicator_; }  // of the grid's ranks

  int context() const { return context_; }  // BLACS's of the grid

  int row() const { return row_; }  // of this process in the grid

  int col() const { return col_; }

  Eigen::Index local_rows() const { return local_rows_; }

  Eigen::Index local_cols() const { return local_cols_; }

  const BlockCyclic& layout() const { return layout_; }

  /// Of this process, column by column; above the diagonal anything may stand.
  const std::vector<double>& entries() const { return h_; }

  /// Of a matrix of n rows that lies as H does.
  Descriptor descriptor(Eigen::Index cols) const;

  /// Calls of ScaLAPACK are made by all processes of the grid or by none: what may fail on one of
  /// them alone, above all for want of memory, is agreed upon in a step of its own before.
  template <typename Call>
  void on_grid(const Call& call) const {
    team_.together([&] {
      if (is_in_grid()) call();
    });
  }

  /// Runs a routine twice: asked for its workspace (lwork = -1), then with that.
  template <typename Routine>
  void run_with_workspace(const char* name, const Routine& routine) const {
    double size = 0.0;
    on_grid([&] { require_accepted(name, routine(&size, -1)); });
    std::vector<double> work;
    on_grid([&] { work.resize(std::max<std::size_t>(1, static_cast<std::size_t>(size))); });
    on_grid([&] { require_accepted(name, routine(work.data(), to_int(std::ssize(work)))); });
  }

  /// Calls use(i, j, entry) for this process's entries in the lower triangle, column by column.
  template <typename Matrix, typename Use>
  void for_each_entry(Matrix& matrix, Use use) const {
    for (Eigen::Index c = 0; c < local_cols_; ++c) {
      const Eigen::Index j = layout_.global(c, col_);
      auto* column = matrix.data() + c * local_rows_;
      for (Eigen::Index r = layout_.num_local(j, row_); r < local_rows_; ++r) {
        use(layout_.global(r, row_), j, column[r]);
      }
    }
  }

  /// ||A||_F of a symmetric matrix: the processes' sums in their order, and those of their columns'
  /// sums.
  double norm_of_lower(const std::vector<double>& matrix) const;

  /// The root of the sum of what each process has, in their order.
  double norm_on_ranks(double squares) const;

  /// A dense n x k matrix, k at most a block, as its processes have it, and back to all ranks.
  std::vector<double> local_part(const Eigen::MatrixXd& whole) const;
  Eigen::MatrixXd whole_of(const std::vector<double>& part, Eigen::Index cols) const;

  /// A product with such a matrix, on all ranks. @param multiply called with the processes' parts
  /// of the matrix and of the product, which is zero.
  template <typename Multiply>
  Eigen::MatrixXd product_of(const Eigen::MatrixXd& v, const Multiply& multiply) const {
    std::vector<double> part;
    std::vector<double> product;
    team_.together([&] {
      part = local_part(v);
      product.resize(part.size());
    });
    multiply(part, product);
    return whole_of(product, v.cols());
  }

 private:
  struct Round;
  // The columns that this process has computed as they are sent, and room for those it receives.
  Round prepared(Eigen::Index first_task, Eigen::Index width, const Eigen::MatrixXd& own) const;
  void exchange(Eigen::Index first_task, Eigen::Index width, Round& round);

  Team& team_;
  Eigen::Index n_;
  int grid_;
  BlockCyclic layout_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int handle_ = -1;  // BLACS's of that
  int context_ = -1;
  int row_ = -1;
  int col_ = -1;
  Eigen::Index local_rows_ = 0;
  Eigen::Index local_cols_ = 0;
  std::vector<double> h_;
};

}  // namespace hesscope::detail
