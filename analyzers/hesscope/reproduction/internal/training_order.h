// SPDX-License-Identifier: BSD-3-Clause
//
// Variants that start where runs of others end.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <hesscope/reproduction/internal/experiment_document.h>

namespace hesscope::detail {

/// The run that `[initialization] from = "VARIANT/RUN"` names.
struct StartRun {
  std::size_t variant;  ///< its place in the document
  std::string run;
};

/// Whether a variant starts so.
bool starts_at_run(const ExperimentVariant& variant);

/// Of a variant that does. @throws ConfigError for what is no VARIANT/RUN of the document, and
/// where that run is not trained from all seeds of `variant`.
StartRun start_run(const ExperimentDocument& document, const ExperimentVariant& variant);

/// Places of the variants in an order in which they can be trained: that of the file but for those
/// that start where a later one ends. @throws ConfigError as start_run(), and for a cycle.
std::vector<std::size_t> training_order(const ExperimentDocument& document);

}  // namespace hesscope::detail
