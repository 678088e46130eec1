// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <hesscope/mpi/mpi_team.h>
#include <hesscope/spectra/distributed_spectrum.h>

namespace hesscope {

/// Matrices by ScaLAPACK on the first grid x grid ranks of a team; all of them compute columns and
/// count eigenvalues. Its sums are made in a fixed order (BLACS "repeatable"): the same bits in every
/// run on the same grid, whatever MPI's collectives are.
/// @param grid  0 = the largest whose ranks there are.
/// @throws ConfigError if the ranks are too few, or if this was built without ScaLAPACK.
std::unique_ptr<const DistributedSolver> scalapack_solver(std::shared_ptr<MpiTeam> team, int grid);

}  // namespace hesscope
