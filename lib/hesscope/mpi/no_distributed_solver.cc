// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces distributed_solver.cc if ScaLAPACK is not available.
#include <hesscope/core/error.h>
#include <hesscope/mpi/distributed_solver.h>

namespace hesscope {

std::unique_ptr<const DistributedSolver> distributed_solver(std::shared_ptr<MpiTeam> /*team*/,
                                                            DistributedEngine /*engine*/,
                                                            int /*grid*/) {
  throw ConfigError(
      "`method` distributed needs ScaLAPACK, and this hesscope-mpi was built without it (on "
      "Debian: "
      "libscalapack-openmpi-dev, then build again)");
}

}  // namespace hesscope
