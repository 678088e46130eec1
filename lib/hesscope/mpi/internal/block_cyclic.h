// SPDX-License-Identifier: BSD-3-Clause
//
// ScaLAPACK's layout along one side of a matrix: blocks of kBlock rows (columns) are dealt to the
// processes of one side of the grid in turn. Indices and processes count from 0.
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

  /// The place of a row among those of its owner.
  Eigen::Index local(Eigen::Index global) const {
    return global / (kBlock * num_processes_) * kBlock + global % kBlock;
  }

  /// The row at a place of a process.
  Eigen::Index global(Eigen::Index local, int process) const {
    return (local / kBlock * num_processes_ + process) * kBlock + local % kBlock;
  }

  /// How many of the first `count` rows a process has (ScaLAPACK's numroc): where its rows from
  /// `count` on begin.
  Eigen::Index num_local(Eigen::Index count, int process) const {
    const Eigen::Index in_whole_rounds = count / (kBlock * num_processes_) * kBlock;
    const Eigen::Index rest = count % (kBlock * num_processes_) - process * kBlock;
    return in_whole_rounds + std::clamp<Eigen::Index>(rest, 0, kBlock);
  }

 private:
  Eigen::Index num_processes_;
};

}  // namespace hesscope::detail
