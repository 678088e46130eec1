// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include <hesscope/mpi/mpi_team.h>
#include <hesscope/spectra/distributed_cost.h>
#include <hesscope/spectra/distributed_spectrum.h>
#include <hesscope/spectra/internal/distributed_matrix.h>

namespace hesscope::detail {

/// A solver for one kind of GridMatrix.
template <typename Matrix, DistributedEngine kEngine>
class GridSolver final : public DistributedSolver {
 public:
  /// @throws ConfigError if there are too few ranks.
  GridSolver(std::shared_ptr<MpiTeam> team, int grid)
      : grid_(grid_of(team->size(), grid)), team_(std::move(team)) {}

  Team& team() const override { return *team_; }

  int grid() const override { return grid_; }

  DistributedEngine engine() const override { return kEngine; }

  std::unique_ptr<DistributedMatrix> matrix(Eigen::Index n, bool with_vectors) const override {
    return std::make_unique<Matrix>(*team_, grid_, n, with_vectors);
  }

 private:
  int grid_;
  std::shared_ptr<MpiTeam> team_;
};

/// @throws ConfigError also if this was built without ELPA.
std::unique_ptr<const DistributedSolver> elpa_solver(std::shared_ptr<MpiTeam> team, int grid);

}  // namespace hesscope::detail
