// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
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
  const int num_ranks = team->size();
  if (grid == 0) grid = largest_grid(num_ranks);
  if (grid < 1 || grid > num_ranks / grid) {
    throw ConfigError(fmt::format("`grid` {0} has {0} x {0} = {1} ranks, and there are {2}",
                                  grid,
                                  static_cast<long>(grid) * grid,
                                  num_ranks));
  }
  return std::make_unique<ScalapackSolver>(std::move(team), grid);
}

}  // namespace hesscope
