// SPDX-License-Identifier: BSD-3-Clause
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <hesscope/analyzers/internal/noise_options.h>
#include <hesscope/analyzers/option_error.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;

constexpr Index kMaxBatchSize = 1'000'000'000;

// "1,8,64"; nothing for an empty text.
std::vector<Index> parse_ladder(std::string_view text) {
  std::vector<Index> sizes;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    Index size = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), size);
    const bool is_last = comma == std::string_view::npos;
    if (error != std::errc() || end != item.data() + item.size() || size < 1 ||
        size > kMaxBatchSize || (!is_last && comma + 1 == rest.size())) {
      throw OptionError("noise-ladder",
                        fmt::format("must be batch sizes from 1 to {} with commas between them, "
                                    "as in 1,8,64; got '{}'",
                                    kMaxBatchSize,
                                    text));
    }
    sizes.push_back(size);
    rest = is_last ? std::string_view() : rest.substr(comma + 1);
  }
  return sizes;
}

SettingKey count_key(const std::string& name,
                     std::int64_t minimum,
                     std::int64_t maximum,
                     std::int64_t fallback,
                     const std::string& meaning) {
  return {.name = name,
          .type = SettingKey::Type::kInteger,
          .meaning = meaning,
          .minimum = minimum,
          .maximum = maximum,
          .fallback = SettingValue(fallback)};
}

}  // namespace

std::vector<SettingKey> noise_option_keys() {
  return {
      count_key("noise-batch-size",
                0,
                kMaxBatchSize,
                0,
                "samples in a minibatch; 0 = 64, or all if there are fewer"),
      count_key("noise-draws",
                1,
                100'000'000,
                1000,
                "how many minibatches to draw; disjoint ones at most as many as there are"),
      {.name = "noise-sampling",
       .meaning = "how to draw them\nresampled: from all samples, with replacement\n"
                  "disjoint: consecutive ranges of the data\n"
                  "fresh: new samples, of data that are drawn from a distribution",
       .choices = {"resampled", "disjoint", "fresh"},
       .fallback = SettingValue(std::string("resampled"))},
      count_key("noise-reference",
                1,
                1'000'000,
                100,
                "how many further minibatches make the gradient that fresh ones are compared with"),
      count_key("noise-bins", 1, 1'000'000, 100, "bins of the histogram"),
      {.name = "noise-ladder",
       .meaning = "further batch sizes at which to describe the noise, as in 1,8,64",
       .fallback = SettingValue(std::string())}};
}

NoiseOptions noise_options_from(const Settings& settings) {
  NoiseOptions options;
  options.batch_size = settings.integer("noise-batch-size");
  options.num_draws = settings.integer("noise-draws");
  const std::string& draws = settings.text("noise-sampling");
  options.draws = draws == "fresh"      ? NoiseOptions::Draws::kFresh
                  : draws == "disjoint" ? NoiseOptions::Draws::kDisjoint
                                        : NoiseOptions::Draws::kResampled;
  options.reference_batches = settings.integer("noise-reference");
  options.num_bins = settings.integer("noise-bins");
  options.ladder = parse_ladder(settings.text("noise-ladder"));
  return options;
}

}  // namespace hesscope::detail
