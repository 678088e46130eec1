// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/sampling/internal/sampler_support.h>
#include <hesscope/sampling/token_classification.h>

namespace hesscope {
namespace {

constexpr double kMaxStrength = 1e6;  // one token has all probability but exp(-1e5) long before

std::vector<double> cumulative(const std::vector<double>& scores, double factor) {
  double largest = -kInfinity;
  for (const double z : scores) largest = std::max(largest, factor * z);
  std::vector<double> sums;
  double sum = 0;
  for (const double z : scores) sums.push_back(sum += std::exp(factor * z - largest));
  for (double& value : sums) value /= sum;
  return sums;
}

}  // namespace

TokenClassification::TokenClassification(const TokenClassificationOptions& options)
    : embedding_(options.vocabulary, options.length, options.embedding, options.embedding_seed),
      length_(options.length) {
  if (!(options.vocabulary >= 2 && options.length >= 1 && options.embedding >= 0 &&
        options.strength > 0 && options.strength <= kMaxStrength)) {
    throw PreconditionError(
        fmt::format("TokenClassification: needs vocabulary >= 2, length >= 1, embedding >= 0 and "
                    "strength above 0 and at most {}, got {}, {}, {} and {}",
                    kMaxStrength,
                    options.vocabulary,
                    options.length,
                    options.embedding,
                    options.strength));
  }
  add_array("inputs", {length_, embedding_.width()});
  add_array("target", {});
  RandomStream random(options.task_seed, Stream::kTask, 0);
  std::vector<double> scores(static_cast<std::size_t>(options.vocabulary));
  random.normal(scores);
  cumulative_[0] = cumulative(scores, -0.5 * options.strength);
  cumulative_[1] = cumulative(scores, 0.5 * options.strength);
}

void TokenClassification::draw(std::uint64_t seed,
                               Stream stream,
                               std::uint64_t index,
                               std::span<double> record) const {
  detail::require_record(*this, record);
  RandomStream random(seed, stream, index);
  const std::uint64_t c = random.below(2);
  const auto width = static_cast<std::size_t>(embedding_.width());
  for (std::int64_t t = 0; t < length_; ++t) {
    const std::vector<double>& law = cumulative_[c];
    const auto token = std::upper_bound(law.begin(), law.end(), random.uniform()) - law.begin();
    embedding_.embed_one_hot(t, token, record.subspan(static_cast<std::size_t>(t) * width, width));
  }
  record.back() = static_cast<double>(c);
}

SamplerKind token_classification_kind() {
  std::vector<SettingKey> keys = {
      {.name = "vocabulary",
       .type = SettingKey::Type::kInteger,
       .meaning = "V, how many different tokens there are",
       .minimum = 2,
       .maximum = 100000},
      size_key("length", "n, tokens of a sample", 100000),
      {.name = "strength",
       .type = SettingKey::Type::kReal,
       .meaning = "a, how differently often the classes use a token",
       .range = RealRange{.maximum = kMaxStrength, .excludes_minimum = true},
       .fallback = SettingValue(1.0)},
      detail::seed_key("task_seed", "seed of what tokens say")};
  for (SettingKey& key : detail::embedding_keys()) keys.push_back(std::move(key));
  return {
      .name = "token-classification",
      .summary = "sequences of tokens that two classes use differently often",
      .keys = std::move(keys),
      .create =
          [](const Settings& settings, const std::filesystem::path& /*folder*/) {
            return std::make_unique<TokenClassification>(TokenClassificationOptions{
                .vocabulary = settings.integer("vocabulary"),
                .length = settings.integer("length"),
                .strength = settings.real("strength"),
                .task_seed = detail::seed_from(settings, "task_seed"),
                .embedding = settings.integer("embedding"),
                .embedding_seed = detail::seed_from(settings, "embedding_seed")});
          },
  };
}

}  // namespace hesscope
