// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/mpi/internal/grid_matrix.h>
#include <hesscope/mpi/internal/node_memory.h>
#include <hesscope/mpi/internal/scalapack.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr int kBlock = static_cast<int>(BlockCyclic::kBlock);

// Cblacs_set: sums in an order that does not depend on which message arrives first (blacs.h:
// SGET_TOPSREPEAT).
constexpr int kTopologiesRepeat = 15;

}  // namespace

void require_accepted(const char* routine, int info) {
  if (info < 0) {
    throw std::logic_error(fmt::format("ScaLAPACK {} refuses its argument {}", routine, -info));
  }
}

void gather(double* numbers, Index count) {
  constexpr Index kMost = Index{1} << 27;
  for (Index done = 0; done < count; done += kMost) {
    MPI_Allreduce(MPI_IN_PLACE,
                  numbers + done,
                  to_int(std::min(kMost, count - done)),
                  MPI_DOUBLE,
                  MPI_SUM,
                  MPI_COMM_WORLD);
  }
}

GridMatrix::GridMatrix(Team& team, int grid, Index n, bool with_vectors)
    : team_(team), n_(n), grid_(grid), layout_(grid) {
  const int rank = team.rank();
  const bool is_in = rank < grid * grid;
  if (is_in) {
    row_ = rank / grid;
    col_ = rank % grid;
    local_rows_ = layout_.num_local(n, row_);
    local_cols_ = layout_.num_local(n, col_);
  }
  const auto entries = static_cast<double>(local_rows_) * static_cast<double>(local_cols_);
  team.together([&] {
    if (n > std::numeric_limits<int>::max() || entries > most_entries(n, with_vectors)) {
      throw ConfigError(fmt::format(
          "a Hessian of {} parameters on {} x {} ranks has {:.3g} entries on each, and ScaLAPACK "
          "counts to {:.3g}{}; a larger grid is needed (`grid`), or more ranks",
          n,
          grid,
          grid,
          entries,
          most_entries(n, with_vectors),
          with_vectors ? " where it finds vectors" : ""));
    }
  });
  // H, the matrix to which it is reduced, and the columns exchanged at a time, sent and received.
  const double columns = exchanged_numbers(n, team.size(), grid, is_in);
  require_node_memory(
      team, (num_distributed_matrices(with_vectors) * entries + columns) * sizeof(double));
  team.together([&] { h_.resize(std::max<std::size_t>(1, static_cast<std::size_t>(entries))); });
  MPI_Comm_split(MPI_COMM_WORLD, is_in ? 0 : MPI_UNDEFINED, rank, &communicator_);
  if (!is_in) return;
  context_ = handle_ = Csys2blacs_handle(communicator_);
  Cblacs_gridinit(&context_, "Row", grid, grid);
  int yes = 1;
  Cblacs_set(context_, kTopologiesRepeat, &yes);
}

GridMatrix::~GridMatrix() {
  if (!is_in_grid()) return;
  Cblacs_gridexit(context_);
  Cfree_blacs_system_handle(handle_);
  MPI_Comm_free(&communicator_);
}

GridMatrix::Descriptor GridMatrix::descriptor(Index cols) const {
  Descriptor made = {};
  const int zero = 0;
  const int rows = to_int(n_);
  const int num_cols = to_int(cols);
  const int stride = std::max(1, to_int(local_rows_));
  int info = 0;
  descinit_(
      made.data(), &rows, &num_cols, &kBlock, &kBlock, &zero, &zero, &context_, &stride, &info);
  require_accepted("descinit", info);
  return made;
}

// What a process sends and receives in one round: numbers for each rank, and where they begin.
struct GridMatrix::Round {
  std::vector<int> sent;
  std::vector<int> sent_from;
  std::vector<int> received;
  std::vector<int> received_from;
  std::vector<double> outgoing;
  std::vector<double> incoming;
};

// In rounds with one task per rank: all compute, then all exchange their columns.
void GridMatrix::fill(const Columns& columns, const ProgressCallback& progress) {
  const Index width = width_of_column_task(n_, team_.size());
  const Index num_tasks = ceil_div(n_, width);
  for (Index task = 0; task < num_tasks; task += team_.size()) {
    Round round;
    team_.together([&] {
      const double rest = 1.0 - static_cast<double>(task) / static_cast<double>(num_tasks);
      if (team_.rank() == 0) report(progress, 1.0 - rest * rest);
      const Index first = (task + team_.rank()) * width;
      MatrixXd own;
      if (first < n_) own = columns(first, std::min(width, n_ - first));
      round = prepared(task, width, own);
    });
    exchange(task, width, round);
  }
}

GridMatrix::Round GridMatrix::prepared(Index first_task, Index width, const MatrixXd& own) const {
  const auto num_ranks = to_size(team_.size());
  Round round;
  auto& [sent, sent_from, received, received_from, outgoing, incoming] = round;
  for (auto* each : {&sent, &sent_from, &received, &received_from}) each->assign(num_ranks, 0);
  if (own.size() > 0) {
    const Index first = n_ - own.rows();
    const int col = layout_.owner(first);
    outgoing.reserve(to_size(own.size()));
    for (int row = 0; row < grid_; ++row) {
      const auto to = to_size(row * grid_ + col);
      const Index begin = layout_.num_local(first, row);
      const Index end = layout_.num_local(n_, row);
      sent_from[to] = to_int(std::ssize(outgoing));
      sent[to] = to_int((end - begin) * own.cols());
      for (Index k = 0; k < own.cols(); ++k) {
        for (Index r = begin; r < end; ++r) {
          outgoing.push_back(own(layout_.global(r, row) - first, k));
        }
      }
    }
  }
  int num_received = 0;
  for (std::size_t from = 0; from < num_ranks; ++from) {
    const Index first = (first_task + static_cast<Index>(from)) * width;
    received_from[from] = num_received;
    if (!is_in_grid() || first >= n_ || layout_.owner(first) != col_) continue;
    const Index rows = local_rows_ - layout_.num_local(first, row_);
    received[from] = to_int(rows * std::min(width, n_ - first));
    num_received += received[from];
  }
  incoming.resize(to_size(num_received));
  return round;
}

void GridMatrix::exchange(Index first_task, Index width, Round& round) {
  MPI_Alltoallv(round.outgoing.data(),
                round.sent.data(),
                round.sent_from.data(),
                MPI_DOUBLE,
                round.incoming.data(),
                round.received.data(),
                round.received_from.data(),
                MPI_DOUBLE,
                MPI_COMM_WORLD);
  for (std::size_t from = 0; from < round.received.size(); ++from) {
    if (round.received[from] == 0) continue;
    const Index first = (first_task + static_cast<Index>(from)) * width;
    const Index begin = layout_.num_local(first, row_);
    const double* numbers = round.incoming.data() + round.received_from[from];
    for (Index k = 0; k < std::min(width, n_ - first); ++k) {
      double* column = h_.data() + layout_.local(first + k) * local_rows_;
      std::copy_n(numbers, local_rows_ - begin, column + begin);
      numbers += local_rows_ - begin;
    }
  }
}

GridMatrix::Content GridMatrix::content() const {
  Content found;
  std::vector<unsigned char> is_alive;
  team_.together([&] {
    found.diagonal = Eigen::VectorXd::Zero(n_);
    is_alive.assign(to_size(n_), 0);
  });
  bool is_finite = true;
  for_each_entry(h_, [&](Index i, Index j, double entry) {
    is_finite = is_finite && std::isfinite(entry);
    found.largest_magnitude = std::max(found.largest_magnitude, std::abs(entry));
    if (entry != 0.0) is_alive[to_size(i)] = is_alive[to_size(j)] = 1;
    if (i == j) found.diagonal[i] = entry;
  });
  found.is_finite = team_.smallest(is_finite ? 1 : 0) == 1;
  MPI_Allreduce(MPI_IN_PLACE, &found.largest_magnitude, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(
      MPI_IN_PLACE, is_alive.data(), to_int(n_), MPI_UNSIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
  gather(found.diagonal.data(), n_);
  found.num_dead = std::ranges::count(is_alive, 0);
  return found;
}

void GridMatrix::scale(int exponent) {
  for_each_entry(h_, [&](Index, Index, double& entry) { entry = std::ldexp(entry, -exponent); });
}

double GridMatrix::frobenius_norm() const { return norm_of_lower(h_); }

double GridMatrix::norm_of_lower(const std::vector<double>& matrix) const {
  double own = 0.0;
  double column = 0.0;
  Index current = -1;
  for_each_entry(matrix, [&](Index i, Index j, double entry) {
    if (j != current) {
      own += std::exchange(column, 0.0);
      current = j;
    }
    column += (i == j ? 1.0 : 2.0) * entry * entry;
  });
  return norm_on_ranks(own + column);
}

double GridMatrix::norm_on_ranks(double squares) const {
  std::vector<double> all;
  team_.together([&] { all.assign(to_size(team_.size()), 0.0); });
  MPI_Allgather(&squares, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
  double sum = 0.0;
  for (const double each : all) sum += each;
  return std::sqrt(sum);
}

std::vector<double> GridMatrix::local_part(const MatrixXd& whole) const {
  std::vector<double> part(std::max<std::size_t>(1, to_size(local_rows_ * whole.cols())), 0.0);
  if (col_ != 0) return part;
  for (Index k = 0; k < whole.cols(); ++k) {
    for (Index r = 0; r < local_rows_; ++r) {
      part[to_size(k * local_rows_ + r)] = whole(layout_.global(r, row_), k);
    }
  }
  return part;
}

MatrixXd GridMatrix::whole_of(const std::vector<double>& part, Index cols) const {
  MatrixXd whole;
  team_.together([&] { whole = MatrixXd::Zero(n_, cols); });
  if (col_ == 0) {
    for (Index k = 0; k < cols; ++k) {
      for (Index r = 0; r < local_rows_; ++r) {
        whole(layout_.global(r, row_), k) = part[to_size(k * local_rows_ + r)];
      }
    }
  }
  gather(whole.data(), whole.size());
  return whole;
}

}  // namespace hesscope::detail
