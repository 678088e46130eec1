// SPDX-License-Identifier: BSD-3-Clause

#include <Random123/philox.h>

#include <boost/random/gamma_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/sampling/random_stream.h>

namespace hesscope {

void RandomStream::refill() {
  using Philox = r123::Philox4x64_R<10>;
  for (std::size_t b = 0; b < kBlocks; ++b) {
    const Philox::ctr_type words = Philox()({{block_ + b, index_, 0, 0}}, {{key_[0], key_[1]}});
    for (std::size_t w = 0; w < 4; ++w) words_[4 * b + w] = words[w];
  }
  block_ += kBlocks;
  next_ = 0;
}

double RandomStream::normal() { return boost::random::normal_distribution<double>()(*this); }

void RandomStream::normal(std::span<double> out) {
  boost::random::normal_distribution<double> distribution;
  for (double& x : out) x = distribution(*this);
}

double RandomStream::gamma(double shape, double scale) {
  if (!(shape > 0 && shape < kInfinity && scale > 0 && scale < kInfinity)) {
    throw PreconditionError(fmt::format(
        "RandomStream::gamma: shape and scale must be positive and finite, got {} and {}",
        shape,
        scale));
  }
  return boost::random::gamma_distribution<double>(shape, scale)(*this);
}

// The high half of count * word is uniform if words whose low half is below 2^64 mod count are
// skipped. Lemire (2019), "Fast random integer generation in an interval".
std::uint64_t RandomStream::below(std::uint64_t count) {
  if (count == 0) throw PreconditionError("RandomStream::below: count must be at least 1");
  const std::uint64_t excess = (0 - count) % count;
  while (true) {
    __extension__ using Product = unsigned __int128;
    const Product product = static_cast<Product>((*this)()) * count;
    if (static_cast<std::uint64_t>(product) >= excess) {
      return static_cast<std::uint64_t>(product >> 64);
    }
  }
}

}  // namespace hesscope
