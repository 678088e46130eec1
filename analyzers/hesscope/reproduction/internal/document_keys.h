// SPDX-License-Identifier: BSD-3-Clause
//
// What the tables of an experiment file take that say what is varied, measured and shown: for their
// reader, and for whoever writes one.
#pragma once

#include <vector>

#include <hesscope/problem/experiment_keys.h>
#include <hesscope/reproduction/internal/experiment_figure_kind.h>

namespace hesscope::detail {

std::vector<SettingKey> about_keys();    ///< of [experiment]
std::vector<SettingKey> variant_keys();  ///< of [[variant]], besides those that it replaces

/// Of [[measure]], besides the options of its analyzers.
std::vector<SettingKey> measure_keys();
std::vector<ListKey> measure_lists();

/// Of [[figure]] of a kind, all of them.
std::vector<SettingKey> figure_keys(const ExperimentFigureKind& kind);
std::vector<ListKey> figure_lists(const ExperimentFigureKind& kind);

std::vector<SettingKey> event_keys();      ///< of [[figure.event]]
std::vector<SettingKey> mark_keys();       ///< of [[figure.mark]]
std::vector<SettingKey> published_keys();  ///< of [[figure.published_values]]

}  // namespace hesscope::detail
