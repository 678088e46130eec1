// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analyzers/alignment.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/analyzers/attention_terms.h>
#include <hesscope/analyzers/blocks.h>
#include <hesscope/analyzers/condition.h>
#include <hesscope/analyzers/density.h>
#include <hesscope/analyzers/eigenpairs.h>
#include <hesscope/analyzers/ggn.h>
#include <hesscope/analyzers/hessian.h>
#include <hesscope/analyzers/noise.h>
#include <hesscope/analyzers/sampling.h>
#include <hesscope/analyzers/smoothness.h>
#include <hesscope/analyzers/spectrum.h>
#include <hesscope/analyzers/stability.h>
#include <hesscope/analyzers/structure.h>
#include <hesscope/analyzers/tangent_kernel.h>
#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>

namespace hesscope {

std::span<const AnalyzerEntry> analyzer_registry() {
  static const std::vector<AnalyzerEntry> entries = {
      hessian_analyzer(),
      spectrum_analyzer(),
      condition_analyzer(),
      structure_analyzer(),
      eigenpairs_analyzer(),
      blocks_analyzer(),
      ggn_analyzer(),
      stability_analyzer(),
      smoothness_analyzer(),
      density_analyzer(),
      sampling_analyzer(),
      noise_analyzer(),
      tangent_kernel_analyzer(),
      attention_terms_analyzer(),
      alignment_analyzer(),
  };
  return entries;
}

const AnalyzerEntry& find_analyzer(const std::string& name) {
  std::vector<std::string> names;
  for (const AnalyzerEntry& entry : analyzer_registry()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  throw ConfigError(fmt::format("unknown analyzer '{}'{}; there are {}",
                                name,
                                did_you_mean(name, names),
                                fmt::join(names, ", ")));
}

}  // namespace hesscope
