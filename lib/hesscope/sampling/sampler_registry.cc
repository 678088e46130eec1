// SPDX-License-Identifier: BSD-3-Clause

#include <hesscope/core/suggest.h>
#include <hesscope/sampling/attention_regression.h>
#include <hesscope/sampling/linear_regression.h>
#include <hesscope/sampling/noisy_images.h>
#include <hesscope/sampling/pathfinder.h>
#include <hesscope/sampling/sampler_registry.h>
#include <hesscope/sampling/signal_noise_data.h>
#include <hesscope/sampling/token_classification.h>

namespace hesscope {

std::vector<std::filesystem::path> SamplerKind::files(const Settings& settings,
                                                      const std::filesystem::path& folder) const {
  return files_named(settings, keys, folder);
}

std::span<const SamplerKind> sampler_kinds() {
  static const std::vector<SamplerKind> kinds = {
      linear_regression_kind(),
      attention_regression_kind(),
      signal_noise_data_kind(),
      token_classification_kind(),
      pathfinder_kind(),
      noisy_images_kind(),
  };
  return kinds;
}

const SamplerKind* find_sampler_kind(const std::string& name) {
  return find_or_null(sampler_kinds(), name);
}

}  // namespace hesscope
