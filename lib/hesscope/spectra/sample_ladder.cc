// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/spectra/sample_ladder.h>

namespace hesscope {
namespace {

using Eigen::MatrixXd;

// @throws PreconditionError.
void require_ladder(const std::vector<std::int64_t>& sizes) {
  bool is_ladder = !sizes.empty() && sizes.front() > 0 && sizes.front() % kLadderBlocks == 0;
  for (std::size_t k = 1; k < sizes.size(); ++k) {
    is_ladder = is_ladder && sizes[k] == 2 * sizes[k - 1];
  }
  if (is_ladder) return;
  throw PreconditionError(
      fmt::format("climb_sample_ladder: sizes must double from a multiple of {}", kLadderBlocks));
}

// The first half of a rung's blocks are those of the rung below, joined in pairs.
void join_in_pairs(std::vector<MatrixXd>& blocks) {
  const std::size_t half = blocks.size() / 2;
  for (std::size_t b = 0; b < half; ++b) {
    blocks[b] = (0.5 * (blocks[2 * b] + blocks[2 * b + 1])).eval();
  }
  blocks.resize(half);
}

}  // namespace

std::vector<std::int64_t> sample_ladder(std::int64_t num_samples) {
  constexpr std::int64_t kLeast = 1000;
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  if (num_samples < 1 || num_samples > kMost) {
    throw PreconditionError(
        fmt::format("sample_ladder: num_samples must be in [1, {}], got {}", kMost, num_samples));
  }
  int num_doublings = 0;
  while (num_samples >> (num_doublings + 1) >= kLeast) ++num_doublings;
  const std::int64_t unit = std::int64_t{kLadderBlocks} << num_doublings;
  std::int64_t size = detail::ceil_div(num_samples, unit) * kLadderBlocks;
  std::vector<std::int64_t> sizes;
  for (int k = 0; k <= num_doublings; ++k, size *= 2) sizes.push_back(size);
  return sizes;
}

std::vector<LadderRung> climb_sample_ladder(const std::vector<std::int64_t>& sizes,
                                            const RangeHessian& hessian,
                                            double level,
                                            const ProgressCallback& progress) {
  require_ladder(sizes);
  std::vector<LadderRung> rungs;
  std::vector<MatrixXd> blocks;
  const auto total = static_cast<double>(sizes.back());
  for (const std::int64_t size : sizes) {
    join_in_pairs(blocks);
    const std::int64_t block_size = size / kLadderBlocks;
    while (std::ssize(blocks) < kLadderBlocks) {
      const std::int64_t first = std::ssize(blocks) * block_size;
      blocks.push_back(hessian(first,
                               block_size,
                               detail::part_of(progress,
                                               static_cast<double>(first) / total,
                                               static_cast<double>(first + block_size) / total)));
    }
    const double done = static_cast<double>(size) / total;  // decompositions do not count
    const auto [errors, spectrum] =
        sampling_errors_of_blocks(blocks, level, detail::part_of(progress, done, done));
    rungs.push_back({.num_samples = size,
                     .errors = errors,
                     .status = spectrum.status,
                     .num_negative = spectrum.num_negative,
                     .num_zero = spectrum.num_zero});
  }
  return rungs;
}

}  // namespace hesscope
