// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <hesscope/mpi/mpi_team.h>
#include <hesscope/spectra/distributed_spectrum.h>

namespace hesscope {

/// Matrices on the first grid x grid ranks of a team; all of them compute columns and count
/// eigenvalues. ScaLAPACK's sums are made in a fixed order (BLACS "repeatable"): the same bits in
/// every run on the same grid, whatever MPI's collectives are. ELPA's are not.
/// @param grid  0 = the largest whose ranks there are.
/// @throws ConfigError if the ranks are too few, or if this was built without that library.
std::unique_ptr<const DistributedSolver> distributed_solver(std::shared_ptr<MpiTeam> team,
                                                            DistributedEngine engine,
                                                            int grid);

}  // namespace hesscope
