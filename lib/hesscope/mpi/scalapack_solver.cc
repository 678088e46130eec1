// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <hesscope/mpi/internal/scalapack_matrix.h>
#include <hesscope/mpi/scalapack_solver.h>
#include <hesscope/spectra/distributed_cost.h>

namespace hesscope {
namespace {

class ScalapackSolver final : public DistributedSolver {
 public:
  ScalapackSolver(std::shared_ptr<MpiTeam> team, int grid) : team_(std::move(team)), grid_(grid) {}

  Team& team() const override { return *team_; }

  int grid() const override { return grid_; }

  std::unique_ptr<detail::DistributedMatrix> matrix(Eigen::Index n) const override {
    return std::make_unique<detail::ScalapackMatrix>(*team_, grid_, n);
  }

 private:
  std::shared_ptr<MpiTeam> team_;
  int grid_;
};

}  // namespace

std::unique_ptr<const DistributedSolver> scalapack_solver(std::shared_ptr<MpiTeam> team, int grid) {
  const int side = grid_of(team->size(), grid);
  return std::make_unique<ScalapackSolver>(std::move(team), side);
}

}  // namespace hesscope
