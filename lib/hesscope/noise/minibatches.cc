// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <random>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/random_numbers.h>
#include <hesscope/noise/minibatches.h>

namespace hesscope {

std::vector<std::uint32_t> resampled_minibatch(std::uint64_t seed,
                                               Eigen::Index draw,
                                               Eigen::Index batch_size,
                                               Eigen::Index num_samples) {
  constexpr Eigen::Index kMaxSamples = std::numeric_limits<std::uint32_t>::max();
  if (num_samples < 1 || num_samples > kMaxSamples || batch_size < 1 || draw < 0) {
    throw PreconditionError(
        fmt::format("resampled_minibatch: num_samples must be in [1, {}], batch_size at least 1 "
                    "and draw at least 0; got {}, {} and {}",
                    kMaxSamples,
                    num_samples,
                    batch_size,
                    draw));
  }
  const auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  const auto high = [](std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); };
  const auto size = static_cast<std::uint64_t>(batch_size);
  const auto number = static_cast<std::uint64_t>(draw);
  std::seed_seq key{low(seed), high(seed), low(size), high(size), low(number), high(number)};
  std::mt19937_64 engine(key);
  const auto count = static_cast<std::uint64_t>(num_samples);
  std::vector<std::uint32_t> samples(static_cast<std::size_t>(batch_size));
  for (std::uint32_t& sample : samples) {
    sample = static_cast<std::uint32_t>(detail::random_index(engine, count));
  }
  std::sort(samples.begin(), samples.end());
  return samples;
}

}  // namespace hesscope
