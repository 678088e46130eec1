// SPDX-License-Identifier: BSD-3-Clause
//
// Two tokens, one of signal and one of noise, for the signal-noise model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/sampling/sampler_registry.h>

namespace hesscope {

struct SignalNoiseDataOptions {
  enum class Placement {
    kFirst,   ///< the signal is token 1
    kRandom,  ///< token 1 or 2, with probability 1/2 each
  };

  std::int64_t dimension = 2;  ///< d, at least 2
  std::int64_t sparsity = 1;   ///< s in 1 ... d - 1, nonzero entries of the noise
  double noise_std = 1;        ///< sigma_p, their standard deviation, at least 0
  double signal = 1;           ///< |mu|, above 0
  Placement placement = Placement::kFirst;
};

/// "signal-noise": y = +-1 with probability 1/2 each. One token is y mu with mu = |mu| e_1; the
/// other is xi, in which s of the coordinates 2 ... d, each subset being equally likely, are N(0,
/// sigma_p^2) and the rest are zero.
///
/// Arrays: inputs (2, d), target () = y. The signal-to-noise ratio is |mu| / (sigma_p sqrt(s)).
/// @cost s words, s normal numbers, d writes.
/// @source Li et al. (2025), arXiv 2410.04870. Their d, s, sigma_p and |mu| are not known to us, so
/// no key except the placement has a default.
class SignalNoiseData final : public Sampler {
 public:
  /// @throws PreconditionError for an option out of its range.
  explicit SignalNoiseData(const SignalNoiseDataOptions& options);

  void draw(std::uint64_t seed,
            Stream stream,
            std::uint64_t index,
            std::span<double> record) const override;

 private:
  SignalNoiseDataOptions options_;
};

SamplerKind signal_noise_data_kind();

}  // namespace hesscope
