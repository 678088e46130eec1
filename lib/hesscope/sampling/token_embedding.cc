// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/sampling/internal/sampler_support.h>
#include <hesscope/sampling/token_embedding.h>

namespace hesscope::detail {

using Eigen::Map;
using Eigen::VectorXd;

TokenEmbedding::TokenEmbedding(std::int64_t num_features,
                               std::int64_t num_tokens,
                               std::int64_t width,
                               std::uint64_t seed)
    : num_features_(num_features), width_(width > 0 ? width : num_features + num_tokens) {
  if (num_features < 1 || num_tokens < 1 || width < 0) {
    throw PreconditionError(fmt::format(
        "a token embedding needs features, tokens and a width of at least 0, got {}, {} "
        "and {}",
        num_features,
        num_tokens,
        width));
  }
  if (width == 0) return;
  RandomStream random(seed, Stream::kTask, 1);
  const double std = 1 / std::sqrt(static_cast<double>(width));
  features_ = normal_matrix(random, num_features, width, std).transpose();
  positions_ = normal_matrix(random, num_tokens, width, std).transpose();
}

void TokenEmbedding::start(std::int64_t token, std::span<double> out) const {
  Map<VectorXd> x(out.data(), width_);
  if (features_.size() > 0) {
    x = positions_.col(token);
  } else {
    x.setZero();
    x[num_features_ + token] = 1;
  }
}

void TokenEmbedding::embed_one_hot(std::int64_t token,
                                   std::int64_t feature,
                                   std::span<double> out) const {
  start(token, out);
  if (features_.size() > 0) {
    Map<VectorXd>(out.data(), width_) += features_.col(feature);
  } else {
    out[static_cast<std::size_t>(feature)] = 1;
  }
}

void TokenEmbedding::embed(std::int64_t token,
                           std::span<const double> features,
                           std::span<double> out) const {
  start(token, out);
  if (features_.size() > 0) {
    Map<VectorXd>(out.data(), width_).noalias() +=
        features_ * Map<const VectorXd>(features.data(), num_features_);
  } else {
    std::copy(features.begin(), features.end(), out.begin());
  }
}

std::vector<SettingKey> embedding_keys() {
  return {{.name = "embedding",
           .type = SettingKey::Type::kInteger,
           .meaning = "D of a fixed random embedding; 0: features as they are, and a one-hot "
                      "position",
           .minimum = 0,
           .maximum = 100000,
           .fallback = SettingValue(std::int64_t{0})},
          seed_key("embedding_seed", "seed of that embedding")};
}

}  // namespace hesscope::detail
