// SPDX-License-Identifier: BSD-3-Clause
//
// The library's only door to threads, and to other processes. Work is cut into blocks whose number
// and size depend on the problem alone, and partial sums are joined in a fixed tree (block_tree.h):
// results are bit-identical for any number of threads and of ranks.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include <hesscope/core/block_tree.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/progress.h>
#include <hesscope/core/team.h>

namespace hesscope {

/// A handle: copies made by with() and alone() use the same threads.
class Executor {
 public:
  /// @param num_threads  threads to use; 0 = one per core this process may run on; at
  ///                     most 256.
  /// @param stop  asked before each body; once the answer is true, no further one begins: calls
  ///              under way, and later ones that have bodies, throw Interrupted.
  /// @throws PreconditionError if num_threads is negative.
  explicit Executor(int num_threads = 0, StopRequest stop = {});
  ~Executor();
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor&&) noexcept;

  int num_threads() const;

  /// For others that work for the same caller.
  const StopRequest& stop() const;

  /// These threads, and those of the other ranks: sum() and share() are then calls that all ranks
  /// make, within Team::call(). `team` must outlive it.
  Executor with(Team* team) const;

  /// These threads alone.
  Executor alone() const;

  /// Null unless work is shared with others now.
  Team* team() const;

  /// Calls body() so that this thread, where it waits for others meanwhile, takes up no work that
  /// is not body()'s.
  void isolated(const std::function<void()>& body) const;

  /// Calls body(i) once for every i in [0, count), concurrently and in no particular order. An
  /// exception thrown by a body stops the rest and is rethrown here.
  void for_each(Eigen::Index count, const std::function<void(Eigen::Index)>& body) const;

  /// The contiguous part of [0, count) that this rank computes in share(), all without a team.
  /// @param work  of each item, by which shares are made; empty = all the same.
  BlockRange own(Eigen::Index count, const std::function<double(Eigen::Index)>& work = {}) const;

  /// Runs add(), which computes own(count, work), on every rank, and gives all ranks all of it:
  /// part(begin, end) says which part of a matrix the items [begin, end) have written.
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
  /// as zeros. The additions form a fixed binary tree over the blocks, that of BlockRange.
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
