// SPDX-License-Identifier: BSD-3-Clause
//
// A small stand-in for text classification.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/sampling/sampler_registry.h>
#include <hesscope/sampling/token_embedding.h>

namespace hesscope {

struct TokenClassificationOptions {
  std::int64_t vocabulary = 2;       ///< V
  std::int64_t length = 1;           ///< n
  double strength = 1;               ///< a, above 0: how informative a token is
  std::uint64_t task_seed = 0;       ///< of the scores
  std::int64_t embedding = 0;        ///< D, or 0: one-hot tokens and positions
  std::uint64_t embedding_seed = 0;  ///< of a random embedding
};

/// "token-classification": a class c = 0 or 1 with probability 1/2 each, then n independent tokens
/// v with probabilities proportional to exp(+-a z_v / 2), with - for class 0; the scores z_v ~ N(0,
/// 1) are fixed, from (task_seed, Stream::kTask, 0). The best classifier sums a z_v over the tokens
/// and adds a constant.
///
/// A token's vector consists of its one-hot entry (V) and its one-hot position (n), D = V + n; or,
/// with embedding = D > 0, it is E_v + P_t with fixed E (V x D) and P (n x D), whose entries are
/// N(0, 1 / D), from (embedding_seed, Stream::kTask, 1).
///
/// Arrays: inputs (n, D), target () = c.
/// @cost n words and n D writes.
/// @source Ours, as a replacement for the reviews of Song et al. (2024), arXiv 2411.07538.
class TokenClassification final : public Sampler {
 public:
  /// @throws PreconditionError for an option out of its range.
  explicit TokenClassification(const TokenClassificationOptions& options);

  void draw(std::uint64_t seed,
            Stream stream,
            std::uint64_t index,
            std::span<double> record) const override;

 private:
  detail::TokenEmbedding embedding_;
  std::int64_t length_;
  std::vector<double> cumulative_[2];  // for each class: P(token <= v), ending with 1
};

SamplerKind token_classification_kind();

}  // namespace hesscope
