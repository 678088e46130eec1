// SPDX-License-Identifier: BSD-3-Clause
//
// Third derivatives of a graph's loss along pairs of directions, summed over a run of samples, on
// one thread: what Sweep is for first and second derivatives.
#pragma once

#include <memory>
#include <span>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/sweep.h>
#include <hesscope/simd/instruction_set.h>

namespace hesscope {

/// One thread's workspace for a graph. Not safe for concurrent use; make one per thread.
class ThirdOrderSweep {
 public:
  /// Pairs processed in one sweep.
  static constexpr int kMaxPairs = 4;

  /// `graph` must have an output and outlive the sweep.
  /// @throws PreconditionError if it has none or the set is not supported.
  static std::unique_ptr<ThirdOrderSweep> create(const Graph& graph,
                                                 InstructionSet set = best_instruction_set());

  /// Memory of one ThirdOrderSweep of this graph.
  static double workspace_bytes(const Graph& graph, InstructionSet set = best_instruction_set());

  virtual ~ThirdOrderSweep();

  /// Directions in pairs, n x num_pairs each: entry (i, k) at [i * num_pairs + k].
  struct Pairs {
    std::span<const double> u;
    std::span<const double> v;
    int num_pairs = 0;  ///< 1 to kMaxPairs
  };

  /// Adds T[u_k, v_k] = d/de H(theta + e u_k) v_k at e = 0 to out[i * num_pairs + k], for the sum H
  /// of the samples' Hessians. theta has graph.num_parameters() entries.
  virtual void third_derivative_times(std::span<const double> theta,
                                      Records records,
                                      const Pairs& pairs,
                                      std::span<double> out) = 0;
};

}  // namespace hesscope
