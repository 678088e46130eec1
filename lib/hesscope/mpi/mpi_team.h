// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks that mpirun or srun have started as a team (core/team.h). Nothing of a result depends on
// MPI: it passes on numbers, and adds up none.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <hesscope/core/team.h>

namespace hesscope {

/// One at a time in a process. Where a rank dies, MPI ends all.
class MpiTeam final : public Team {
 public:
  /// @param size, rank  as the launcher says, before begin().
  MpiTeam(int size, int rank) : size_(size), rank_(rank) {}

  /// MPI_Init_thread, by which the ranks wait for each other. From now on no child should be
  /// forked.
  /// @throws OutputError where MPI has started others than the launcher said, or cannot be called
  ///         by one thread after the other.
  void begin() override;

  /// MPI_Finalize.
  void end() override;

  /// Whether begin() has been called.
  bool has_begun() const { return has_begun_; }

  int size() const override { return size_; }

  int rank() const override { return rank_; }

  std::string place() const override;

  bool is_at_work() const override { return is_at_work_; }

  /// Of the first rank; the others see none.
  std::vector<std::string> lost() const override;

  void send(int to, std::span<const double> numbers) override;
  void receive(int from, std::span<double> numbers) override;
  void broadcast(int from, std::span<std::byte> bytes) override;
  int smallest(int number) override;

  /// Those who wait leave their core to others.
  void await(std::span<std::byte> bytes) override;

 private:
  // A rank beside the first one, on its machine.
  struct Neighbour {
    int rank;
    int process;  // its number: a pid_t
  };

  void find_neighbours();

  int size_;
  int rank_;
  bool has_begun_ = false;
  std::atomic<bool> is_at_work_ = false;
  std::vector<Neighbour> neighbours_;  // as is_at_work_ became true
};

}  // namespace hesscope
