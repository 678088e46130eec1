// SPDX-License-Identifier: BSD-3-Clause
//
// The workspaces of an objective's threads.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <hesscope/autodiff/line_sweep.h>
#include <hesscope/autodiff/sweep.h>
#include <hesscope/autodiff/third_order_sweep.h>

namespace hesscope::detail {

struct Workspace {
  std::unique_ptr<Sweep> sweep;
  std::vector<double> records;                   ///< of a block of samples, once any were made
  std::unique_ptr<ThirdOrderSweep> third_order;  ///< once third derivatives were asked for
  std::unique_ptr<LineSweep> lines;              ///< once those along lines were
};

/// Workspaces, as many as are ever used at once.
class SweepPool {
 public:
  SweepPool(const Graph& graph, InstructionSet set) : graph_(&graph), set_(set) {}

  template <typename F>
  auto with_workspace(F use) {
    Workspace workspace = take();

    struct Return {
      SweepPool* pool;
      Workspace* workspace;

      ~Return() { pool->put(std::move(*workspace)); }
    } give_back{this, &workspace};

    return use(workspace);
  }

  template <typename F>
  auto with_sweep(F use) {
    return with_workspace([&](Workspace& workspace) { return use(*workspace.sweep); });
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
    return with_workspace([&](Workspace& workspace) {
      std::unique_ptr<S>& sweep = workspace.*member;
      if (sweep == nullptr) sweep = S::create(*graph_, set_);
      return use(*sweep);
    });
  }

  Workspace take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        Workspace workspace = std::move(idle_.back());
        idle_.pop_back();
        return workspace;
      }
    }
    return {.sweep = Sweep::create(*graph_, set_),
            .records = {},
            .third_order = nullptr,
            .lines = nullptr};
  }

  void put(Workspace workspace) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(workspace));
  }

  const Graph* graph_;
  InstructionSet set_;
  std::mutex mutex_;
  std::vector<Workspace> idle_;
};

}  // namespace hesscope::detail
