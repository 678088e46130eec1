// SPDX-License-Identifier: BSD-3-Clause
//
// ScaLAPACK's layout along one side of a matrix: blocks of kBlock rows (columns) are dealt out in
// turn to the processes along one side of the grid. Indices and processes count from 0.
#pragma once

#include <algorithm>

#include <Eigen/Core>

#include <hesscope/spectra/internal/distributed_layout.h>

namespace hesscope::detail {

class BlockCyclic {
 public:
  static constexpr Eigen::Index kBlock = kDistributedBlock;

  explicit BlockCyclic(int num_processes) : num_processes_(num_processes) {}

  int owner(Eigen::Index global) const {
    return static_cast<int>(global / kBlock % num_processes_);
  }

  /// The local index of a row at its owner.
  Eigen::Index local(Eigen::Index global) const {
    return global / (kBlock * num_processes_) * kBlock + global % kBlock;
  }

  /// The global index of a process's row.
  Eigen::Index global(Eigen::Index local, int process) const {
    return (local / kBlock * num_processes_ + process) * kBlock + local % kBlock;
  }

  /// The number of the first `count` rows that a process has (ScaLAPACK's numroc), which is also
  /// the local index from which its rows from `count` on begin.
  Eigen::Index num_local(Eigen::Index count, int process) const {
    const Eigen::Index in_whole_rounds = count / (kBlock * num_processes_) * kBlock;
    const Eigen::Index rest = count % (kBlock * num_processes_) - process * kBlock;
    return in_whole_rounds + std::clamp<Eigen::Index>(rest, 0, kBlock);
  }

 private:
  Eigen::Index num_processes_;
};

}  // namespace hesscope::detail
