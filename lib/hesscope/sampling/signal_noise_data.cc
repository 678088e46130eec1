// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/sampling/internal/sampler_support.h>
#include <hesscope/sampling/signal_noise_data.h>

namespace hesscope {

SignalNoiseData::SignalNoiseData(const SignalNoiseDataOptions& options) : options_(options) {
  const std::int64_t d = options.dimension;
  const std::int64_t s = options.sparsity;
  if (!(s >= 1 && d >= 2 && s <= d - 1 && options.noise_std >= 0 && options.noise_std < kInfinity &&
        options.signal > 0 && options.signal < kInfinity)) {
    throw PreconditionError(fmt::format(
        "SignalNoiseData: needs dimension >= 2, sparsity in [1, dimension - 1], noise_std >= 0 and "
        "signal > 0, got {}, {}, {} and {}",
        d,
        s,
        options.noise_std,
        options.signal));
  }
  add_array("inputs", {2, d});
  add_array("target", {});
}

void SignalNoiseData::draw(std::uint64_t seed,
                           Stream stream,
                           std::uint64_t index,
                           std::span<double> record) const {
  detail::require_record(*this, record);
  RandomStream random(seed, stream, index);
  const double y = random.below(2) == 0 ? -1 : 1;
  const bool is_swapped =
      options_.placement == SignalNoiseDataOptions::Placement::kRandom && random.below(2) == 1;
  std::fill(record.begin(), record.end(), 0.0);
  const auto d = static_cast<std::size_t>(options_.dimension);
  const std::span<double> signal = record.subspan(is_swapped ? d : 0, d);
  const std::span<double> noise = record.subspan(is_swapped ? 0 : d, d);
  signal[0] = y * options_.signal;
  detail::draw_sparse_noise(
      random, static_cast<std::size_t>(options_.sparsity), options_.noise_std, noise.subspan(1));
  record.back() = y;
}

SamplerKind signal_noise_data_kind() {
  return {
      .name = "signal-noise",
      .summary = "one token of signal, one of sparse noise, and a sign",
      .keys = {size_key("dimension", "d, the dimension of a token", 10'000'000),
               size_key("sparsity", "s, coordinates of the noise that are not zero", 10'000'000),
               {.name = "noise_std",
                .type = SettingKey::Type::kReal,
                .meaning = "sigma_p, the standard deviation of these coordinates",
                .range = kNonNegative},
               {.name = "signal",
                .type = SettingKey::Type::kReal,
                .meaning = "the length of the signal",
                .range = kPositive},
               {.name = "placement",
                .meaning = "whether the signal is always the first token",
                .choices = {"first", "random"},
                .fallback = SettingValue(std::string("first"))}},
      .create =
          [](const Settings& settings, const std::filesystem::path& /*folder*/) {
            const SignalNoiseDataOptions options = {
                .dimension = settings.integer("dimension"),
                .sparsity = settings.integer("sparsity"),
                .noise_std = settings.real("noise_std"),
                .signal = settings.real("signal"),
                .placement = settings.text("placement") == "first"
                                 ? SignalNoiseDataOptions::Placement::kFirst
                                 : SignalNoiseDataOptions::Placement::kRandom};
            if (!(options.sparsity < options.dimension)) {
              settings.refuse(
                  "sparsity",
                  fmt::format("'sparsity' must be below 'dimension', which is {}, got {}: the "
                              "signal's coordinate has no noise",
                              options.dimension,
                              options.sparsity));
            }
            return std::make_unique<SignalNoiseData>(options);
          },
  };
}

}  // namespace hesscope
