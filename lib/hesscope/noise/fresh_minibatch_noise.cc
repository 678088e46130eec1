// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/noise/fresh_minibatch_noise.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

FreshSamples::Range range_of(const FreshMinibatchNoiseOptions& options, Index first, Index count) {
  return {.seed = options.seed,
          .stream = Stream::kNoise,
          .first = static_cast<std::uint64_t>(first),
          .count = count};
}

void require_options(const FreshMinibatchNoiseOptions& options) {
  const bool has_sizes =
      !options.batch_sizes.empty() && std::all_of(options.batch_sizes.begin(),
                                                  options.batch_sizes.end(),
                                                  [](Index size) { return size >= 1; });
  if (has_sizes && options.num_draws >= 1 && options.reference_batches >= 1) return;
  throw PreconditionError(
      fmt::format("fresh_minibatch_noise: needs batch sizes, num_draws and reference_batches of at "
                  "least 1, got {} sizes, {} and {}",
                  options.batch_sizes.size(),
                  options.num_draws,
                  options.reference_batches));
}

}  // namespace

std::vector<MinibatchNoise> fresh_minibatch_noise(const FreshSamples& samples,
                                                  const Eigen::Ref<const VectorXd>& theta,
                                                  const FreshMinibatchNoiseOptions& options,
                                                  const ProgressCallback& progress) {
  require_options(options);
  const Executor executor(options.num_threads);
  const Index num_draws = options.num_draws;
  const Index references = options.reference_batches;
  const auto num_sizes = static_cast<double>(options.batch_sizes.size());
  std::vector<MinibatchNoise> result;
  for (const Index batch_size : options.batch_sizes) {
    // The fraction of the work, where all sizes count equally.
    const auto report = [&](Index batches) {
      const double part =
          static_cast<double>(batches) / static_cast<double>(references + num_draws);
      detail::report(progress, (static_cast<double>(result.size()) + part) / num_sizes);
    };
    const VectorXd gradient =
        samples.value_and_gradient(theta, range_of(options, 0, references * batch_size)).gradient;
    report(references);
    VectorXd norms(num_draws);
    // Several minibatches side by side: a single one may be too small for all threads.
    constexpr Index kAtOnce = 64;
    for (Index first = 0; first < num_draws; first += kAtOnce) {
      const Index count = std::min(kAtOnce, num_draws - first);
      executor.for_each(count, [&](Index k) {
        const Index batch = references + first + k;
        norms[first + k] = detail::norm(
            samples.value_and_gradient(theta, range_of(options, batch * batch_size, batch_size))
                .gradient -
            gradient);
      });
      report(references + first + count);
    }
    MinibatchNoise noise;
    noise.batch_size = batch_size;
    noise.status = norms.allFinite() ? Status::kOk : Status::kNonFinite;
    if (noise.status == Status::kOk) noise.norms = std::move(norms);
    result.push_back(std::move(noise));
  }
  return result;
}

}  // namespace hesscope
