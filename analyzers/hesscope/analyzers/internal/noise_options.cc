// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <utility>

#include <hesscope/analyzers/internal/batch_sizes.h>
#include <hesscope/analyzers/internal/noise_options.h>

namespace hesscope::detail {
namespace {

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
  SettingKey reference = count_key(
      "noise-reference",
      1,
      1'000'000,
      100,
      "number of further minibatches that give the gradient with which fresh ones are compared");
  reference.only_with = {.key = "noise-sampling", .values = {"fresh"}};
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
                "how many minibatches to draw; no more disjoint ones than there are"),
      {.name = "noise-sampling",
       .meaning =
           "how to draw them\nresampled: from all samples, with replacement\ndisjoint: consecutive "
           "ranges of the data\nfresh: new samples, for data that are drawn from a distribution",
       .choices = {"resampled", "disjoint", "fresh"},
       .fallback = SettingValue(std::string("resampled"))},
      std::move(reference),
      count_key("noise-bins", 1, 1'000'000, 100, "bins of the histogram"),
      {.name = "noise-ladder",
       .meaning = "further batch sizes at which to describe the noise, for example 1,8,64",
       .is_optional = true}};
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
  options.ladder = batch_sizes_from(settings, "noise-ladder");
  return options;
}

}  // namespace hesscope::detail
