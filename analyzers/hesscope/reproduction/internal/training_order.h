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
  std::size_t variant;  ///< its position in the document
  std::string run;
};

/// Whether a variant starts at such a run.
bool starts_at_run(const ExperimentVariant& variant);

/// The run at which a variant starts. @throws ConfigError if it is not a VARIANT/RUN of the
/// document, or is not trained from all seeds of `variant`.
StartRun start_run(const ExperimentDocument& document, const ExperimentVariant& variant);

/// Positions of the variants in an order in which they can be trained: that of the file, except for
/// variants that start where a later one ends. @throws ConfigError as start_run(), and for a cycle.
std::vector<std::size_t> training_order(const ExperimentDocument& document);

}  // namespace hesscope::detail
