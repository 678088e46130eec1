// SPDX-License-Identifier: BSD-3-Clause
//
// The workspaces of an objective's threads.
#pragma once

#include <memory>
#include <vector>

#include <hesscope/autodiff/line_sweep.h>
#include <hesscope/autodiff/sweep.h>
#include <hesscope/autodiff/third_order_sweep.h>
#include <hesscope/core/internal/pool.h>

namespace hesscope::detail {

struct Workspace {
  std::unique_ptr<Sweep> sweep;
  std::vector<double> records;                   ///< of a block of samples, once any were made
  std::unique_ptr<ThirdOrderSweep> third_order;  ///< once third derivatives were asked for
  std::unique_ptr<LineSweep> lines;              ///< once those along lines were
};

class SweepPool {
 public:
  SweepPool(const Graph& graph, InstructionSet set)
      : graph_(&graph), set_(set), pool_([&graph, set] {
          return Workspace{.sweep = Sweep::create(graph, set),
                           .records = {},
                           .third_order = nullptr,
                           .lines = nullptr};
        }) {}

  template <typename F>
  auto with_workspace(F use) {
    return pool_.with(use);
  }

  template <typename F>
  auto with_sweep(F use) {
    return pool_.with([&](Workspace& workspace) { return use(*workspace.sweep); });
  }

  template <typename F>
  auto with_third_order_sweep(F use) {
    return with_made(&Workspace::third_order, use);
  }

  template <typename F>
  auto with_line_sweep(F use) {
    return with_made(&Workspace::lines, use);
  }

 private:
  // With a workspace's sweep that is made when first asked for.
  template <typename S, typename F>
  auto with_made(std::unique_ptr<S> Workspace::*member, F use) {
    return pool_.with([&](Workspace& workspace) {
      std::unique_ptr<S>& sweep = workspace.*member;
      if (sweep == nullptr) sweep = S::create(*graph_, set_);
      return use(*sweep);
    });
  }

  const Graph* graph_;
  InstructionSet set_;
  Pool<Workspace> pool_;
};

}  // namespace hesscope::detail
