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

/// @throws std::logic_error for a negative `info` of ScaLAPACK.
void require_accepted(const char* routine, int info);

/// Gives all ranks a vector whose entries are each on one rank, and zero on the others; exact in
/// any order.
void gather(double* numbers, Eigen::Index count);

/// H in ScaLAPACK's layout, block by block on the first grid x grid ranks. Decompositions are left
/// to the libraries that use this layout. Only the lower triangle is filled.
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

  int context() const { return context_; }  // the grid's context in BLACS

  int row() const { return row_; }  // of this process in the grid

  int col() const { return col_; }

  Eigen::Index local_rows() const { return local_rows_; }

  Eigen::Index local_cols() const { return local_cols_; }

  const BlockCyclic& layout() const { return layout_; }

  /// The entries on this process, column by column; those above the diagonal are arbitrary.
  const std::vector<double>& entries() const { return h_; }

  /// For a matrix of n rows that is distributed like H.
  Descriptor descriptor(Eigen::Index cols) const;

  /// Calls of ScaLAPACK are made by all processes of the grid or by none. What may fail on one of
  /// them alone, above all for lack of memory, must therefore be agreed upon in a separate step
  /// before.
  template <typename Call>
  void on_grid(const Call& call) const {
    team_.together([&] {
      if (is_in_grid()) call();
    });
  }

  /// Runs a routine twice: first to ask for its workspace size (lwork = -1), then with that
  /// workspace.
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

  /// ||A||_F of a symmetric matrix: columns are summed first, then each process, then the processes
  /// in their order.
  double norm_of_lower(const std::vector<double>& matrix) const;

  /// The root of the sum of the processes' numbers, in their order.
  double norm_on_ranks(double squares) const;

  /// The local part of a dense n x k matrix, k at most a block; and such a matrix, from all parts,
  /// on all ranks.
  std::vector<double> local_part(const Eigen::MatrixXd& whole) const;
  Eigen::MatrixXd whole_of(const std::vector<double>& part, Eigen::Index cols) const;

  /// A product with such a matrix, on all ranks. @param multiply called with each process's parts
  /// of the matrix and of the product, which is initially zero.
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
  // The columns that this process has computed, in the order in which they are sent, and room for
  // those it receives.
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
