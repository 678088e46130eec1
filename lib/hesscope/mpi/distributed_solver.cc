// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <hesscope/mpi/distributed_solver.h>
#include <hesscope/mpi/internal/grid_solver.h>
#include <hesscope/mpi/internal/scalapack_matrix.h>

namespace hesscope {

std::unique_ptr<const DistributedSolver> distributed_solver(std::shared_ptr<MpiTeam> team,
                                                            DistributedEngine engine,
                                                            int grid) {
  using Scalapack = detail::GridSolver<detail::ScalapackMatrix, DistributedEngine::kScalapack>;
  if (engine == DistributedEngine::kElpa) return detail::elpa_solver(std::move(team), grid);
  return std::make_unique<Scalapack>(std::move(team), grid);
}

}  // namespace hesscope
