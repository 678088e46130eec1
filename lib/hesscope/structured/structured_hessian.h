// SPDX-License-Identifier: BSD-3-Clause
//
// A model-specific computation of the Hessian, faster than the generic sweep because it exploits
// the model's structure. The generic engine remains its definition and its test.
#pragma once

#include <memory>
#include <span>

#include <hesscope/autodiff/sweep.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/executor.h>
#include <hesscope/core/progress.h>

namespace hesscope {

/// The mean of the Hessians of a model's loss over samples, computed from the model's structure.
/// Immutable; safe to call concurrently.
class StructuredHessian {
 public:
  virtual ~StructuredHessian() = default;

  /// h = mean over the records of the loss's Hessian at theta: n x n, symmetric to the last bit,
  /// and bit-identical for any number of the executor's threads. Reported progress is proportional
  /// to elapsed time, so the total time can be extrapolated from it.
  /// @returns whether all of h is finite.
  /// @throws PreconditionError unless theta and h fit the model, and there is a record.
  virtual bool mean(std::span<const double> theta,
                    Records records,
                    const Executor& executor,
                    const ProgressCallback& progress,
                    Eigen::Ref<Eigen::MatrixXd> h) const = 0;

  /// An upper bound of the memory that mean() needs in addition to h.
  virtual double workspace_bytes(int num_threads) const = 0;

 protected:
  /// Checks the arguments of mean(). @throws PreconditionError as mean() does.
  static void require_fit(Eigen::Index num_parameters,
                          std::span<const double> theta,
                          Records records,
                          const Eigen::Ref<Eigen::MatrixXd>& h);
};

}  // namespace hesscope
