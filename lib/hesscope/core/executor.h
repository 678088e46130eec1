// SPDX-License-Identifier: BSD-3-Clause
//
// The library's only door to threads. Work is cut into blocks whose number and size depend on the
// problem alone, and partial sums are joined in a fixed tree: results are bit-identical for any
// number of threads.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include <Eigen/Core>

#include <hesscope/core/progress.h>

namespace hesscope {

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

  /// Calls body(i) once for every i in [0, count), concurrently and in no particular order. An
  /// exception thrown by a body stops the rest and is rethrown here.
  void for_each(Eigen::Index count, const std::function<void(Eigen::Index)>& body) const;

  /// result = sum over b in [0, num_blocks) of what block(b, partial) adds to a partial that starts
  /// as zeros. The additions form a fixed binary tree over the blocks.
  /// @cost at most (threads x log2(num_blocks)) partials of result.size() doubles.
  void sum(Eigen::Index num_blocks,
           std::span<double> result,
           const std::function<void(Eigen::Index block, std::span<double> partial)>& block) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hesscope
