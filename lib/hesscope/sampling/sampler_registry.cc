// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/sampling/linear_regression.h>
#include <hesscope/sampling/sampler_registry.h>

namespace hesscope {

std::span<const SamplerKind> sampler_kinds() {
  static const std::vector<SamplerKind> kinds = {
      linear_regression_kind(),
  };
  return kinds;
}

const SamplerKind* find_sampler_kind(const std::string& name) {
  const auto kinds = sampler_kinds();
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace hesscope
