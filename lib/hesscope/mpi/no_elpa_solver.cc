// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces elpa_matrix.cc if ELPA is not available.
#include <hesscope/core/error.h>
#include <hesscope/mpi/internal/grid_solver.h>

namespace hesscope::detail {

std::unique_ptr<const DistributedSolver> elpa_solver(std::shared_ptr<MpiTeam> /*team*/,
                                                     int /*grid*/) {
  throw ConfigError(
      "`engine` elpa needs ELPA, and this hesscope-mpi was built without it (on Debian: "
      "libelpa-dev, then build again); `engine` scalapack needs no more than is there");
}

}  // namespace hesscope::detail
