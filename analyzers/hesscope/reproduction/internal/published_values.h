// SPDX-License-Identifier: BSD-3-Clause
//
// The tables of an experiment file with numbers that others report for a figure.
#pragma once

#include <hesscope/problem/internal/toml_tables.h>
#include <hesscope/reproduction/internal/experiment_document.h>

namespace hesscope::detail {

/// A [[figure.published_values]] of a figure that is otherwise read.
/// @throws ConfigError if the figure has no such number, as its kind decides (PublishedPlace).
///         Steps are only checked for the unchanged file: a scale may have others.
PublishedValue published_from(const TomlTable& table,
                              const ExperimentFigure& figure,
                              const ExperimentDocument& document);

}  // namespace hesscope::detail
