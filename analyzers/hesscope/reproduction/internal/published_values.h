// SPDX-License-Identifier: BSD-3-Clause
//
// The tables of an experiment file that say what others found where a figure has a number.
#pragma once

#include <hesscope/problem/internal/toml_tables.h>
#include <hesscope/reproduction/internal/experiment_document.h>

namespace hesscope::detail {

/// A [[figure.published_values]] of a figure that is read but for these.
/// @throws ConfigError for what the figure has no number of, as its kind says (PublishedPlace). Of
///         steps this is asked of the file as it stands alone: a scale may have others.
PublishedValue published_from(const TomlTable& table,
                              const ExperimentFigure& figure,
                              const ExperimentDocument& document);

}  // namespace hesscope::detail
