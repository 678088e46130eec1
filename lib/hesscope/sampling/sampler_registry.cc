// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/growing_list.h>
#include <hesscope/core/internal/setting_fallback.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/suggest.h>
#include <hesscope/sampling/attention_regression.h>
#include <hesscope/sampling/linear_regression.h>
#include <hesscope/sampling/noisy_images.h>
#include <hesscope/sampling/pathfinder.h>
#include <hesscope/sampling/sampler_registry.h>
#include <hesscope/sampling/signal_noise_data.h>
#include <hesscope/sampling/token_classification.h>

namespace hesscope {
namespace {

GrowingList<SamplerKind>& sampler_registry() {
  static GrowingList<SamplerKind> kinds({
      linear_regression_kind(),
      attention_regression_kind(),
      signal_noise_data_kind(),
      token_classification_kind(),
      pathfinder_kind(),
      noisy_images_kind(),
  });
  return kinds;
}

}  // namespace

std::vector<std::filesystem::path> SamplerKind::files(const Settings& settings,
                                                      const std::filesystem::path& folder) const {
  return files_named(settings, keys, folder);
}

std::span<const SamplerKind> sampler_kinds() { return sampler_registry().all(); }

void register_sampler_kind(SamplerKind kind) {
  const auto refuse = [name = printable(kind.name)](const std::string& why) {
    throw PreconditionError(fmt::format("register_sampler_kind: sampler '{}' {}", name, why));
  };
  if (!kind.create) refuse("has no function `create`");
  const std::string problem =
      detail::kind_problem(kind.name, kind.keys, {"kind", "file", "samples", "seed"});
  if (!problem.empty()) refuse(problem);
  add_kind(sampler_registry(), std::move(kind), refuse);
}

std::unique_ptr<Sampler> make_sampler(const std::string& name,
                                      const Settings& settings,
                                      const std::filesystem::path& folder) {
  const SamplerKind& kind = *find_sampler_kind(name);
  if (std::unique_ptr<Sampler> sampler = kind.create(settings, folder)) return sampler;
  throw PreconditionError(
      fmt::format("sampler '{}': its function `create` made nothing", kind.name));
}

const SamplerKind* find_sampler_kind(const std::string& name) {
  return find_or_null(sampler_kinds(), name);
}

}  // namespace hesscope
