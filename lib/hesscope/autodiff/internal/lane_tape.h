// SPDX-License-Identifier: BSD-3-Clause
//
// A tape that holds several samples in the lanes of vector registers.
#pragma once

#include <algorithm>

#include <hesscope/autodiff/internal/tape.h>
#include <hesscope/autodiff/sweep.h>

namespace hesscope::detail {

/// A tape for W samples at a time; J is its Jet on their lanes. A run whose length is not a
/// multiple of W is padded with copies of its last sample, whose lanes are not read.
template <int W, InstructionSet kSet, typename J>
class LaneTape : public Tape<Lanes<W, kSet>, J> {
 public:
  using Base = Lanes<W, kSet>;
  using Tape = detail::Tape<Base, J>;

  explicit LaneTape(const Graph& graph) : Tape(graph) {}

  void set_theta(std::span<const double> theta) {
    Tape::set_parameters([&](Eigen::Index j) { return Base(theta[static_cast<std::size_t>(j)]); });
  }

  /// body(first, count) for each run of up to W samples, with their records loaded.
  template <typename F>
  void for_each_pack(Records records, F body) {
    for (Eigen::Index first = 0; first < records.count; first += W) {
      const int count = static_cast<int>(std::min<Eigen::Index>(W, records.count - first));
      Tape::set_inputs([&](Eigen::Index entry) {
        Base packed;
        for (int lane = 0; lane < W; ++lane) {
          const Eigen::Index sample = first + std::min(lane, count - 1);
          packed.set(lane, records.data[sample * records.stride + entry]);
        }
        return packed;
      });
      body(first, count);
    }
  }

  /// The sum over the first `count` lanes.
  static double sum_of(const Base& lanes, int count) {
    double total = 0;
    for (int lane = 0; lane < W; ++lane) {
      if (lane < count) total += lanes[lane];
    }
    return total;
  }
};

}  // namespace hesscope::detail
