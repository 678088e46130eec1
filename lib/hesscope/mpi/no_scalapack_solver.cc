// SPDX-License-Identifier: BSD-3-Clause
//
// Instead of scalapack_solver.cc where there is no ScaLAPACK.
#include <hesscope/core/error.h>
#include <hesscope/mpi/scalapack_solver.h>

namespace hesscope {

std::unique_ptr<const DistributedSolver> scalapack_solver(std::shared_ptr<MpiTeam> /*team*/,
                                                          int /*grid*/) {
  throw ConfigError(
      "`method` distributed needs ScaLAPACK, and this hesscope-mpi was built without it (on "
      "Debian: "
      "libscalapack-openmpi-dev, then build again)");
}

}  // namespace hesscope
