// SPDX-License-Identifier: BSD-3-Clause
//
// Values and gradients of an objective by its model's StructuredLoss.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include <hesscope/objective/graph_objective.h>
#include <hesscope/objective/objective.h>
#include <hesscope/objective/sample_table.h>
#include <hesscope/simd/internal/aligned_buffer.h>
#include <hesscope/structured/structured_loss.h>

namespace hesscope {

class Executor;

namespace detail {

/// Means over samples, in blocks of a fixed size and a fixed order of sums. Samples are condensed
/// once, when they are first asked for.
class StructuredSums {
 public:
  /// References are kept.
  StructuredSums(std::shared_ptr<const StructuredLoss> loss,
                 const SampleTable& samples,
                 const Executor& executor);

  double value(const Eigen::VectorXd& theta, SampleRange range) const;

  Objective::ValueAndGradient value_and_gradient(const Eigen::VectorXd& theta,
                                                 SampleRange range) const;

  /// The same for samples 0 ... num_samples - 1 that `source` makes.
  Objective::ValueAndGradient value_and_gradient_of(const Eigen::VectorXd& theta,
                                                    Eigen::Index num_samples,
                                                    const RecordSource& source) const;

  /// Memory: of the condensed samples, and of each thread.
  double workspace_bytes(int num_threads) const;

 private:
  struct Workspace {
    double* scratch;
    double* packs;
    double* records;
  };

  // A block of the samples that a call is about, counted from its first, condensed.
  using PackSource = std::function<StructuredLoss::Packs(SampleRange block, const Workspace&)>;

  Eigen::Index packs_size(Eigen::Index num_samples) const;
  PackSource packs_in(SampleRange range) const;
  StructuredLoss::Packs condensed(Records records, const Workspace& workspace) const;
  Objective::ValueAndGradient mean_gradient(const Eigen::VectorXd& theta,
                                            Eigen::Index num_samples,
                                            const PackSource& packs,
                                            const Executor& executor) const;
  std::size_t workspace_size() const;

  template <typename F>
  void with_workspace(F use) const;

  std::shared_ptr<const StructuredLoss> loss_;
  const SampleTable* samples_;
  const Executor* executor_;
  mutable BufferPool pool_;
  mutable std::once_flag is_condensed_;
  mutable std::optional<AlignedBuffer> condensed_;  // all samples
};

}  // namespace detail
}  // namespace hesscope
