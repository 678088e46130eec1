// SPDX-License-Identifier: BSD-3-Clause
//
// The data that the steps of a training run use.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <hesscope/objective/graph_objective.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

class Sampler;

/// One loss for every step t = 0, 1, ... of a run: the mean over that step's batch. A batch depends
/// on nothing but the step, so that a run can be continued from any step. Not safe for concurrent
/// use.
class BatchLoss {
 public:
  virtual ~BatchLoss() = default;

  virtual std::span<const ParameterBlock> parameter_blocks() const = 0;

  /// Mean loss over the batch of step t at theta, and its gradient.
  /// @throws PreconditionError, where batches differ, for a negative step.
  virtual Objective::ValueAndGradient value_and_gradient(const Objective::ConstVectorRef& theta,
                                                         std::int64_t step) = 0;
};

/// Every step uses all samples. `objective` must outlive the result.
std::unique_ptr<BatchLoss> full_batches(const Objective& objective);
std::unique_ptr<BatchLoss> full_batches(const Objective&& objective) = delete;

/// Every step uses `batch_size` new samples: sample i of step t is index t batch_size + i of (seed,
/// Stream::kTraining). They are drawn on the objective's threads as its sums reach them.
/// @param objective  its model takes the sampler's arrays; its own samples are not used. It and the
///                   sampler must outlive the result.
/// @throws PreconditionError if batch_size < 1; InputError naming the array that the sampler lacks
///         or gives in another shape.
std::unique_ptr<BatchLoss> fresh_batches(const GraphObjective& objective,
                                         const Sampler& sampler,
                                         std::uint64_t seed,
                                         Eigen::Index batch_size);
std::unique_ptr<BatchLoss> fresh_batches(const GraphObjective& objective,
                                         const Sampler&& sampler,
                                         std::uint64_t seed,
                                         Eigen::Index batch_size) = delete;
std::unique_ptr<BatchLoss> fresh_batches(const GraphObjective&& objective,
                                         const Sampler& sampler,
                                         std::uint64_t seed,
                                         Eigen::Index batch_size) = delete;

/// The steps go through the rows of `samples` in batches of `batch_size`; the last batch of an
/// epoch is the remainder. Every epoch has another order: epoch k shuffles by (seed,
/// Stream::kOrder, k). A batch that contains all samples takes them in their given order.
/// @param objective  the rows are records of its model. It must outlive the result.
/// @throws PreconditionError if batch_size < 1 or the table has no rows or other columns.
std::unique_ptr<BatchLoss> shuffled_batches(const GraphObjective& objective,
                                            std::shared_ptr<const SampleTable> samples,
                                            std::uint64_t seed,
                                            Eigen::Index batch_size);
std::unique_ptr<BatchLoss> shuffled_batches(const GraphObjective&& objective,
                                            std::shared_ptr<const SampleTable> samples,
                                            std::uint64_t seed,
                                            Eigen::Index batch_size) = delete;

}  // namespace hesscope
