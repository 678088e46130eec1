// SPDX-License-Identifier: BSD-3-Clause
//
// The library's only access to threads and to other processes. Work is cut into blocks whose number
// and size depend on the problem alone, and partial sums are joined in a fixed tree (block_tree.h),
// so results are bit-identical for any number of threads and of ranks.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include <hesscope/core/block_tree.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/progress.h>
#include <hesscope/core/team.h>

namespace hesscope {

/// A handle: the copies made by with() and alone() use the same threads.
class Executor {
 public:
  /// @param num_threads  threads to use; 0 = one per core this process may run on; at
  ///                     most 256.
  /// @param stop  asked before each body. Once it returns true, no further body begins: calls under
  ///              way, and later calls that have bodies, throw Interrupted.
  /// @throws PreconditionError if num_threads is negative.
  explicit Executor(int num_threads = 0, StopRequest stop = {});
  ~Executor();
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor&&) noexcept;

  int num_threads() const;

  /// For other code that works for the same caller.
  const StopRequest& stop() const;

  /// An executor with these threads and those of the other ranks: sum() and share() are then
  /// collective calls that all ranks make, within Team::call(). `team` must outlive it.
  Executor with(Team* team) const;

  /// An executor with these threads alone.
  Executor alone() const;

  /// Null unless work is currently shared with other ranks.
  Team* team() const;

  /// Runs body(); while this thread waits inside it, it executes no unrelated tasks.
  void isolated(const std::function<void()>& body) const;

  /// Calls body(i) once for every i in [0, count), concurrently and in no particular order. An
  /// exception thrown by a body stops the rest and is rethrown here.
  /// @throws PreconditionError if count is negative or `body` is empty.
  void for_each(Eigen::Index count, const std::function<void(Eigen::Index)>& body) const;

  /// The contiguous part of [0, count) that this rank computes in share(); without a team, all of
  /// it.
  /// @param work  the work of item i, by which the shares are balanced; empty = equal for all
  ///              items.
  BlockRange own(Eigen::Index count, const std::function<double(Eigen::Index)>& work = {}) const;

  /// Runs add(), which computes own(count, work), on every rank, then gives every rank the whole
  /// result: part(begin, end) says which part of a matrix the items [begin, end) have written.
  void together(const std::function<void()>& add,
                Eigen::Index count,
                const std::function<MatrixPart(Eigen::Index begin, Eigen::Index end)>& part,
                const std::function<double(Eigen::Index)>& work = {}) const;

  /// together() with for_each(body) over own(count, work).
  void share(Eigen::Index count,
             const std::function<void(Eigen::Index)>& body,
             const std::function<MatrixPart(Eigen::Index begin, Eigen::Index end)>& part,
             const std::function<double(Eigen::Index)>& work = {}) const;

  /// result = sum over b in [0, num_blocks) of what block(b, partial) adds to a partial that starts
  /// as zeros. The additions form a fixed binary tree over the blocks (BlockRange).
  /// @throws PreconditionError if num_blocks is negative or `block` is empty.
  /// @cost at most (threads x log2(num_blocks)) partials of result.size() doubles.
  void sum(Eigen::Index num_blocks,
           std::span<double> result,
           const std::function<void(Eigen::Index block, std::span<double> partial)>& block) const;

 private:
  struct Impl;
  Executor(std::shared_ptr<const Impl> impl, Team* team);

  std::shared_ptr<const Impl> impl_;
  Team* team_ = nullptr;
};

}  // namespace hesscope
