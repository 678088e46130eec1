// SPDX-License-Identifier: BSD-3-Clause
//
// Derivatives of a graph's loss along lines, up to fourth order, summed over a run of samples, on
// one thread: what ThirdOrderSweep is for third derivatives.
#pragma once

#include <memory>
#include <span>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/sweep.h>
#include <hesscope/simd/instruction_set.h>

namespace hesscope {

/// One thread's workspace for a graph. Not safe for concurrent use; make one per thread.
class LineSweep {
 public:
  /// The highest derivative.
  static constexpr int kOrder = 4;

  /// Lines handled in one sweep.
  static constexpr int kMaxLines = 4;

  /// `graph` must have an output and outlive the sweep.
  /// @throws PreconditionError if it has none or the set is not supported.
  static std::unique_ptr<LineSweep> create(const Graph& graph,
                                           InstructionSet set = best_instruction_set());

  /// Memory of one LineSweep of this graph.
  static double workspace_bytes(const Graph& graph, InstructionSet set = best_instruction_set());

  virtual ~LineSweep();

  /// Adds (d/dt)^p f(theta + t v_k) at t = 0 to out[p * num_lines + k], for the sum f of the
  /// samples' losses and p = 0 to kOrder. theta has graph.num_parameters() entries; entry i of v_k
  /// is at directions[i * num_lines + k]. Requires 1 <= num_lines <= kMaxLines.
  virtual void line_derivatives(std::span<const double> theta,
                                Records records,
                                std::span<const double> directions,
                                int num_lines,
                                std::span<double> out) = 0;
};

}  // namespace hesscope
