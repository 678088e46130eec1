// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/noise/minibatch_noise.h>
#include <hesscope/objective/gradient_blocks.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr const char* kMinibatchNoise = "minibatch_noise";

MinibatchNoise noise_of(Index batch_size, const VectorXd& gradient, const MatrixXd& of_batches) {
  MinibatchNoise noise;
  noise.batch_size = batch_size;
  VectorXd norms(of_batches.cols());
  for (Index k = 0; k < norms.size(); ++k) {
    norms[k] = detail::norm(of_batches.col(k) - gradient);
  }
  const bool is_finite = gradient.allFinite() && of_batches.allFinite() && norms.allFinite();
  noise.status = is_finite ? Status::kOk : Status::kNonFinite;
  if (is_finite) noise.norms = std::move(norms);
  return noise;
}

// The minibatches of one size, accumulated while the samples stream by in ascending order.
class ResampledSums {
 public:
  ResampledSums(const Objective& objective,
                Index batch_size,
                const MinibatchNoiseOptions& options,
                const Executor& executor)
      : batch_size_(batch_size),
        samples_(static_cast<std::size_t>(options.num_draws)),
        next_(samples_.size(), 0),
        sums_(MatrixXd::Zero(objective.num_parameters(), options.num_draws)) {
    executor.for_each(options.num_draws, [&](Index draw) {
      samples_[static_cast<std::size_t>(draw)] =
          resampled_minibatch(options.seed, draw, batch_size, objective.num_samples());
    });
  }

  // Each sum takes its samples in ascending order, however they are divided into blocks.
  void add(const MatrixXd& gradients, SampleRange block, const Executor& executor) {
    constexpr Index kDrawsPerTask = 16;
    const Index num_draws = sums_.cols();
    executor.for_each(detail::ceil_div(num_draws, kDrawsPerTask), [&](Index task) {
      const Index end = std::min((task + 1) * kDrawsPerTask, num_draws);
      for (Index draw = task * kDrawsPerTask; draw < end; ++draw) add(gradients, block, draw);
    });
  }

  MinibatchNoise noise(const VectorXd& gradient) {
    sums_ /= static_cast<double>(batch_size_);
    return noise_of(batch_size_, gradient, sums_);
  }

 private:
  void add(const MatrixXd& gradients, SampleRange block, Index draw) {
    const std::vector<std::uint32_t>& samples = samples_[static_cast<std::size_t>(draw)];
    std::size_t& i = next_[static_cast<std::size_t>(draw)];
    for (; i < samples.size() && static_cast<Index>(samples[i]) < block.end; ++i) {
      sums_.col(draw) += gradients.col(static_cast<Index>(samples[i]) - block.begin);
    }
  }

  Index batch_size_;
  std::vector<std::vector<std::uint32_t>> samples_;  // of each minibatch, ascending
  std::vector<std::size_t> next_;                    // the first not yet added
  MatrixXd sums_;                                    // of their gradients
};

std::vector<MinibatchNoise> resampled_noise(const Objective& objective,
                                            const Eigen::Ref<const VectorXd>& theta,
                                            const MinibatchNoiseOptions& options,
                                            const ProgressCallback& progress) {
  const Executor executor(options.num_threads);
  std::vector<ResampledSums> sums;
  sums.reserve(options.batch_sizes.size());
  for (const Index batch_size : options.batch_sizes) {
    sums.emplace_back(objective, batch_size, options, executor);
  }
  const auto num_samples = static_cast<double>(objective.num_samples());
  VectorXd gradient = VectorXd::Zero(theta.size());
  for_gradient_blocks(
      objective, theta, objective.all_samples(), [&](MatrixXd& gradients, SampleRange block) {
        gradient += gradients.rowwise().sum();
        for (ResampledSums& sum : sums) sum.add(gradients, block, executor);
        detail::report(progress, static_cast<double>(block.end) / num_samples);
      });
  gradient /= num_samples;
  std::vector<MinibatchNoise> result;
  result.reserve(options.batch_sizes.size());
  for (ResampledSums& sum : sums) result.push_back(sum.noise(gradient));
  return result;
}

// g is computed from the minibatches' gradients and that of the left-over samples.
MinibatchNoise disjoint_noise(const Objective& objective,
                              const Eigen::Ref<const VectorXd>& theta,
                              Index batch_size,
                              const MinibatchNoiseOptions& options,
                              const ProgressCallback& progress) {
  const Index num_samples = objective.num_samples();
  const Index num_draws =
      num_minibatches(MinibatchSampling::kDisjoint, num_samples, batch_size, options.num_draws);
  MatrixXd gradients(theta.size(), num_draws);
  // Several minibatches side by side: a single one may be too small for all threads.
  constexpr Index kAtOnce = 256;
  const Executor executor(options.num_threads);
  for (Index first = 0; first < num_draws; first += kAtOnce) {
    executor.for_each(std::min(kAtOnce, num_draws - first), [&](Index k) {
      const Index begin = (first + k) * batch_size;
      gradients.col(first + k) = objective.gradient(theta, {begin, begin + batch_size});
    });
    const Index done = std::min(first + kAtOnce, num_draws) * batch_size;
    detail::report(progress, static_cast<double>(done) / static_cast<double>(num_samples));
  }
  VectorXd gradient = static_cast<double>(batch_size) * gradients.rowwise().sum();
  const SampleRange rest = {num_draws * batch_size, num_samples};
  if (rest.size() > 0) {
    gradient += static_cast<double>(rest.size()) * objective.gradient(theta, rest);
  }
  gradient /= static_cast<double>(num_samples);
  return noise_of(batch_size, gradient, gradients);
}

}  // namespace

Index num_minibatches(MinibatchSampling sampling,
                      Index num_samples,
                      Index batch_size,
                      Index num_draws) {
  if (num_samples < 1 || batch_size < 1 || num_draws < 1) {
    throw PreconditionError(
        fmt::format("{}: samples, batch sizes and num_draws must be at least 1, got {}, {} and {}",
                    kMinibatchNoise,
                    num_samples,
                    batch_size,
                    num_draws));
  }
  if (sampling == MinibatchSampling::kResampled) return num_draws;
  if (batch_size > num_samples) {
    throw PreconditionError(
        fmt::format("{}: disjoint minibatches must be of at most {} samples, all there are, got {}",
                    kMinibatchNoise,
                    num_samples,
                    batch_size));
  }
  return std::min(num_draws, num_samples / batch_size);
}

std::vector<MinibatchNoise> minibatch_noise(const Objective& objective,
                                            const Eigen::Ref<const VectorXd>& theta,
                                            const MinibatchNoiseOptions& options,
                                            const ProgressCallback& progress) {
  require_point(objective, kMinibatchNoise, theta, objective.all_samples());
  if (options.batch_sizes.empty()) {
    throw PreconditionError(fmt::format("{}: batch_sizes must not be empty", kMinibatchNoise));
  }
  for (const Index batch_size : options.batch_sizes) {
    num_minibatches(options.sampling, objective.num_samples(), batch_size, options.num_draws);
  }
  if (options.sampling == MinibatchSampling::kResampled) {
    return resampled_noise(objective, theta, options, progress);
  }
  std::vector<MinibatchNoise> result;
  result.reserve(options.batch_sizes.size());
  for (const Index batch_size : options.batch_sizes) {
    result.push_back(disjoint_noise(objective, theta, batch_size, options, progress));
  }
  return result;
}

}  // namespace hesscope
