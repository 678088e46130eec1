// SPDX-License-Identifier: BSD-3-Clause
//
// How a run works with the ranks of a team. Each rank opens the inputs for itself, before they
// meet: files are read in forked children, which do not go with what connects ranks. Where they
// meet they compare what they have opened.
#pragma once

#include <functional>
#include <memory>

#include <hesscope/analysis/internal/checkpoint_inputs.h>
#include <hesscope/core/team.h>
#include <hesscope/spectra/distributed_spectrum.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

/// On the first rank: the others serve as long as it lives.
class TeamSession {
 public:
  /// Waits for the others. @param team  null = none.
  /// @throws InputError naming rank and key where a rank has opened something else; what a rank has
  ///         thrown while it opened it.
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
  bool proves_fully = false;                             ///< of its spectra
};

/// On the others, as long as the first one's TeamSession lives.
void serve_inputs(Team& team, const std::function<ServedInputs()>& open);

}  // namespace hesscope::detail
