// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <hesscope/mpi/mpi_team.h>
#include <hesscope/spectra/distributed_spectrum.h>

namespace hesscope {

/// Matrices are distributed on the first grid x grid ranks of a team; all ranks compute columns and
/// count eigenvalues. ScaLAPACK's sums are made in a fixed order (BLACS "repeatable"), so that
/// every run on the same grid gives the same bits, whichever collectives MPI uses. This does not
/// hold for ELPA.
/// @param grid  0 = the largest for which there are enough ranks.
/// @throws ConfigError if there are too few ranks, or this was built without that library.
std::unique_ptr<const DistributedSolver> distributed_solver(std::shared_ptr<MpiTeam> team,
                                                            DistributedEngine engine,
                                                            int grid);

}  // namespace hesscope
