// SPDX-License-Identifier: BSD-3-Clause
//
// The tables of an experiment file that say what is measured and shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hesscope/problem/internal/toml_tables.h>
#include <hesscope/reproduction/internal/experiment_document.h>

namespace hesscope::detail {

/// @throws ConfigError unless each is among `known`; `what`: what they are, as in "variant".
void require_known(const std::vector<std::string>& names,
                   const std::vector<std::string>& known,
                   const std::string& what,
                   const std::string& place);

/// A [[measure]] of a document whose variants are read. @throws ConfigError.
ExperimentMeasure measure_from(const TomlTable& table, const ExperimentDocument& document);

/// A [[figure]] of a document whose variants and measures are read. @throws ConfigError.
ExperimentFigure figure_from(const TomlTable& table, const ExperimentDocument& document);

/// All names of variants, and of runs of any of them, in the order of the file.
std::vector<std::string> variant_names(const ExperimentDocument& document);
std::vector<std::string> run_names(const ExperimentDocument& document);

/// Families of a figure's runs in its variants, in their order.
std::vector<std::string> families_of(const ExperimentDocument& document,
                                     const ExperimentFigure& figure);

/// "GROUP/NAME", or "MEASURE/GROUP/NAME" if several measures have the group.
struct QuantityName {
  std::string measure;  ///< empty = any
  std::string group;    ///< "history", or an analyzer
  std::string name;
};

QuantityName quantity_name(const std::string& text);

}  // namespace hesscope::detail
