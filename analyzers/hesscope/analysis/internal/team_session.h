// SPDX-License-Identifier: BSD-3-Clause
//
// How a run works with the ranks of a team. Each rank opens the inputs for itself before the ranks
// meet: files are read in forked children, and forks are not compatible with what connects ranks.
// When they meet, the ranks compare what they have opened.
#pragma once

#include <functional>
#include <memory>

#include <hesscope/analysis/internal/checkpoint_inputs.h>
#include <hesscope/core/team.h>
#include <hesscope/spectra/distributed_spectrum.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

/// On the first rank: the other ranks serve as long as this lives.
class TeamSession {
 public:
  /// Waits for the others. @param team  null = none.
  /// @throws InputError naming rank and key if a rank has opened something else; and what a rank
  ///         has thrown while it opened its inputs.
  TeamSession(Team* team, const io::RunConfiguration& configuration);
  ~TeamSession();
  TeamSession(const TeamSession&) = delete;
  TeamSession& operator=(const TeamSession&) = delete;

 private:
  Team* team_;
};

/// What another rank has opened.
struct ServedInputs {
  std::shared_ptr<const CheckpointInputs> inputs;
  io::RunConfiguration configuration;
  std::shared_ptr<const DistributedSolver> solver = {};  ///< null = none
  bool proves_fully = false;                             ///< whether its spectra are to be proved
};

/// On the other ranks: serves as long as the first rank's TeamSession lives.
void serve_inputs(Team& team, const std::function<ServedInputs()>& open);

}  // namespace hesscope::detail
