// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <complex>  // before elpa.h, which requires it
#include <memory>
#include <utility>
#include <vector>

#include <elpa/elpa.h>
#include <mpi.h>

#include <hesscope/core/constants.h>
#include <hesscope/mpi/internal/elpa_matrix.h>
#include <hesscope/mpi/internal/grid_solver.h>
#include <hesscope/mpi/internal/scalapack.h>
#include <hesscope/spectra/distributed_cost.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// The oldest version with this interface.
constexpr int kElpaApi = 20211125;

// Calls of ELPA; after a failure, further calls do nothing.
class ElpaHandle {
 public:
  ElpaHandle() {
    is_right_ = elpa_init(kElpaApi) == ELPA_OK;
    if (is_right_) handle_ = elpa_allocate(&error_);
    note();
  }

  ~ElpaHandle() {
    if (handle_ != nullptr) elpa_deallocate(handle_, &error_);
    elpa_uninit(&error_);
  }

  ElpaHandle(const ElpaHandle&) = delete;
  ElpaHandle& operator=(const ElpaHandle&) = delete;

  void set(const char* name, int value) {
    if (is_right_) elpa_set_integer(handle_, name, value, &error_);
    note();
  }

  void setup() {
    if (is_right_) error_ = elpa_setup(handle_);
    note();
  }

  void eigenvectors(double* a, double* values, double* vectors) {
    if (is_right_) elpa_eigenvectors_a_h_a_d(handle_, a, values, vectors, &error_);
    note();
  }

  bool is_right() const { return is_right_; }

 private:
  void note() { is_right_ = is_right_ && error_ == ELPA_OK; }

  elpa_t handle_ = nullptr;
  int error_ = ELPA_OK;
  bool is_right_ = false;
};

}  // namespace

ElpaMatrix::ElpaMatrix(Team& team, int grid, Index n, bool with_vectors)
    : ScalapackMatrix(team, (require_grid_for_elpa(n, grid), grid), n, with_vectors) {}

void ElpaMatrix::fill_upper_triangle() {
  on_grid([&] {
    const int n = to_int(num_rows());
    const double one = 1.0;
    const double zero = 0.0;
    const Descriptor desc = descriptor(num_rows());
    pdtran_(&n,
            &n,
            &one,
            work().data(),
            &kOne,
            &kOne,
            desc.data(),
            &zero,
            vectors().data(),
            &kOne,
            &kOne,
            desc.data());
  });
  for (Index c = 0; c < local_cols(); ++c) {
    // Rows above the diagonal.
    const Index end = layout().num_local(layout().global(c, col()), row());
    const auto begin = std::next(vectors().begin(), c * local_rows());
    std::copy_n(begin, end, std::next(work().begin(), c * local_rows()));
  }
}

bool ElpaMatrix::decompose(VectorXd& values) {
  ElpaHandle elpa;
  const int n = to_int(num_rows());
  elpa.set("na", n);
  elpa.set("nev", n);
  elpa.set("local_nrows", to_int(local_rows()));
  elpa.set("local_ncols", to_int(local_cols()));
  elpa.set("nblk", to_int(BlockCyclic::kBlock));
  elpa.set("mpi_comm_parent", MPI_Comm_c2f(communicator()));
  elpa.set("process_row", row());
  elpa.set("process_col", col());
  elpa.setup();
  elpa.set("solver", ELPA_SOLVER_1STAGE);
  elpa.eigenvectors(work().data(), values.data(), vectors().data());
  return elpa.is_right();
}

Tridiagonal ElpaMatrix::tridiagonalize() {
  Tridiagonal t;
  team().together([&] {
    t = {VectorXd::Constant(num_rows(), kNaN), VectorXd::Zero(num_rows() - 1)};
    work().assign(entries().size(), 0.0);
    vectors().resize(entries().size());
    const auto* entry = entries().data();
    for_each_entry(work(),
                   [&](Index, Index, double& lower) { lower = entry[&lower - work().data()]; });
  });
  fill_upper_triangle();
  bool is_found = true;
  on_grid([&] { is_found = decompose(t.diagonal); });
  // Ranks outside the grid receive the values from the first rank.
  team().broadcast(0, std::as_writable_bytes(std::span(t.diagonal.data(), to_size(num_rows()))));
  if (team().smallest(is_found ? 1 : 0) == 0) t.diagonal.setConstant(kNaN);
  return t;
}

MatrixXd ElpaMatrix::apply_q(const MatrixXd& v) {
  return product_of(v, [&](const std::vector<double>& part, std::vector<double>& product) {
    on_grid([&] {
      const int n = to_int(num_rows());
      const int k = to_int(v.cols());
      const double one = 1.0;
      const double zero = 0.0;
      const Descriptor of_h = descriptor(num_rows());
      const Descriptor of_v = descriptor(v.cols());
      pdgemm_("N",
              "N",
              &n,
              &k,
              &n,
              &one,
              vectors().data(),
              &kOne,
              &kOne,
              of_h.data(),
              part.data(),
              &kOne,
              &kOne,
              of_v.data(),
              &zero,
              product.data(),
              &kOne,
              &kOne,
              of_v.data());
    });
  });
}

std::unique_ptr<const DistributedSolver> elpa_solver(std::shared_ptr<MpiTeam> team, int grid) {
  return std::make_unique<GridSolver<ElpaMatrix, DistributedEngine::kElpa>>(std::move(team), grid);
}

}  // namespace hesscope::detail
