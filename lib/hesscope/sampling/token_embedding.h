// SPDX-License-Identifier: BSD-3-Clause
//
// How samplers turn a token into a vector if embeddings are data rather than parameters.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <hesscope/core/eigen.h>
#include <hesscope/core/settings.h>

namespace hesscope::detail {

/// Maps token t of n with features v in R^F to either
///   width 0: v, then n entries of which number t is 1 (D = F + n), or
///   width D: E^T v + P_t with E of size F x D, P of size n x D, entries N(0, 1 / D) from (seed,
///            Stream::kTask, 1), E before P, row by row.
class TokenEmbedding {
 public:
  /// @throws PreconditionError without features or tokens, or for a negative width.
  TokenEmbedding(std::int64_t num_features,
                 std::int64_t num_tokens,
                 std::int64_t width,
                 std::uint64_t seed);

  /// D.
  std::int64_t width() const { return width_; }

  /// For features that are 1 at `feature` and 0 elsewhere.
  void embed_one_hot(std::int64_t token, std::int64_t feature, std::span<double> out) const;

  void embed(std::int64_t token, std::span<const double> features, std::span<double> out) const;

 private:
  // P_t, or its one-hot form.
  void start(std::int64_t token, std::span<double> out) const;

  std::int64_t num_features_;
  std::int64_t width_;
  Eigen::MatrixXd features_;   // D x F; empty for one-hot positions
  Eigen::MatrixXd positions_;  // D x n
};

/// `embedding` (D or 0) and `embedding_seed`.
std::vector<SettingKey> embedding_keys();

}  // namespace hesscope::detail
