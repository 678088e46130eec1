// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <hesscope/core/eigen.h>
#include <hesscope/objective/objective.h>
#include <hesscope/sampling/random_stream.h>

namespace hesscope {

class GraphObjective;
class Sampler;

/// The loss over samples that are drawn as they are needed and never kept: over as many as one
/// likes of the distribution that an Objective holds a few samples of. Safe for concurrent use.
class FreshSamples {
 public:
  /// Samples first, ..., first + count - 1 of (seed, stream).
  struct Range {
    std::uint64_t seed = 0;
    Stream stream = Stream::kNoise;
    std::uint64_t first = 0;
    Eigen::Index count = 0;
  };

  virtual ~FreshSamples() = default;

  virtual Eigen::Index num_parameters() const = 0;

  /// Mean loss over the range and its gradient, to the last bit those of an Objective that holds
  /// these samples. @throws PreconditionError if theta does not fit or the range is empty.
  virtual Objective::ValueAndGradient value_and_gradient(const Objective::ConstVectorRef& theta,
                                                         const Range& range) const = 0;

  /// Mean Hessian over the range, n x n, symmetric to the last bit. Samples are drawn 16,384 at a
  /// time, and summed in that order. @throws PreconditionError as value_and_gradient().
  virtual Eigen::MatrixXd hessian(const Objective::ConstVectorRef& theta,
                                  const Range& range,
                                  const ProgressCallback& progress) const = 0;

  /// H_ii of the loss of each sample of the range, i a parameter.
  /// @throws PreconditionError also unless i is one.
  virtual Eigen::VectorXd hessian_entries(const Objective::ConstVectorRef& theta,
                                          const Range& range,
                                          Eigen::Index i) const = 0;
};

/// Fresh samples for the objective's model, on its threads; both arguments must outlive them.
/// @param source  what messages call the sampler.
/// @throws InputError naming the array that the sampler lacks or gives in another shape.
std::unique_ptr<FreshSamples> fresh_samples(const GraphObjective& objective,
                                            const Sampler& sampler,
                                            const std::string& source);
std::unique_ptr<FreshSamples> fresh_samples(const GraphObjective& objective,
                                            const Sampler&& sampler,
                                            const std::string& source) = delete;
std::unique_ptr<FreshSamples> fresh_samples(const GraphObjective&& objective,
                                            const Sampler& sampler,
                                            const std::string& source) = delete;

}  // namespace hesscope
