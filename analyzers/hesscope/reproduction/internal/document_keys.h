// SPDX-License-Identifier: BSD-3-Clause
//
// The keys of those tables of an experiment file that say what is varied, measured and shown: for
// the reader of the file, and for whoever writes one.
#pragma once

#include <vector>

#include <hesscope/problem/experiment_keys.h>
#include <hesscope/reproduction/internal/experiment_figure_kind.h>

namespace hesscope::detail {

std::vector<SettingKey> about_keys();    ///< of [experiment]
std::vector<SettingKey> variant_keys();  ///< of [[variant]], in addition to those that it replaces

/// Keys of [[measure]], in addition to the options of its analyzers.
std::vector<SettingKey> measure_keys();
std::vector<ListKey> measure_lists();

/// All keys of a [[figure]] of this kind.
std::vector<SettingKey> figure_keys(const ExperimentFigureKind& kind);
std::vector<ListKey> figure_lists(const ExperimentFigureKind& kind);

std::vector<SettingKey> event_keys();      ///< of [[figure.event]]
std::vector<SettingKey> mark_keys();       ///< of [[figure.mark]]
std::vector<SettingKey> published_keys();  ///< of [[figure.published_values]]

}  // namespace hesscope::detail
