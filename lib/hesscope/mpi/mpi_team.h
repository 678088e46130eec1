// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks started by mpirun or srun as a team (core/team.h). No result depends on MPI: it only
// transmits numbers, and never adds them.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <hesscope/core/team.h>

namespace hesscope {

/// At most one at a time in a process. If a rank dies, MPI ends all.
class MpiTeam final : public Team {
 public:
  /// @param size, rank  as reported by the launcher, before begin().
  MpiTeam(int size, int rank) : size_(size), rank_(rank) {}

  /// Calls MPI_Init_thread, in which the ranks wait for each other. Do not fork child processes
  /// from then on.
  /// @throws OutputError if MPI's ranks differ from what the launcher said, or if threads cannot
  ///         call MPI one after the other.
  void begin() override;

  /// Calls MPI_Finalize.
  void end() override;

  /// Whether begin() has been called.
  bool has_begun() const { return has_begun_; }

  int size() const override { return size_; }

  int rank() const override { return rank_; }

  std::string place() const override;

  bool is_at_work() const override { return is_at_work_; }

  /// Found by the first rank only; always empty on the others.
  std::vector<std::string> lost() const override;

  void send(int to, std::span<const double> numbers) override;
  void receive(int from, std::span<double> numbers) override;
  void broadcast(int from, std::span<std::byte> bytes) override;
  int smallest(int number) override;

  /// Waiting ranks leave their core to others.
  void await(std::span<std::byte> bytes) override;

 private:
  // another rank on the first one's machine
  struct Neighbour {
    int rank;
    int process;  // its number: a pid_t
  };

  void find_neighbours();

  int size_;
  int rank_;
  bool has_begun_ = false;
  std::atomic<bool> is_at_work_ = false;
  std::vector<Neighbour> neighbours_;  // as of when is_at_work_ became true
};

}  // namespace hesscope
