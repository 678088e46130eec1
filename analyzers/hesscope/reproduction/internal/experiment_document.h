// SPDX-License-Identifier: BSD-3-Clause
//
// An experiment file as a reproduction uses it: what is trained, what is measured, and which
// figures are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/core/settings.h>
#include <hesscope/problem/experiment_file.h>
#include <hesscope/problem/internal/toml_tables.h>
#include <hesscope/reproduction/internal/experiment_figure_kind.h>

namespace hesscope::detail {

/// The experiment with the keys of a [[variant]] over those of the file.
struct ExperimentVariant {
  std::string name;   ///< also of its folder; "base" if the file has no variants
  std::string title;  ///< for figures
  ExperimentFile experiment;
};

/// One [[measure]]: analyzers on the checkpoints of runs.
struct ExperimentMeasure {
  std::string name;  ///< of its result file
  std::string location;
  std::vector<std::string> analyzers;
  std::map<std::string, SettingValue> options;  ///< of the analyzers, those that were given
  SpectrumMethod method = SpectrumMethod::kAuto;
  std::uint64_t seed = 0;                 ///< for all random numbers
  std::optional<std::int64_t> samples;    ///< number of samples; that of [evaluation] unless given
  std::vector<std::int64_t> checkpoints;  ///< steps; these and the next lists: empty = all
  std::vector<std::string> variants;
  std::vector<std::string> runs;
  std::vector<std::int64_t> seeds;

  bool covers(const std::string& variant, const std::string& run, std::uint64_t of_seed) const;
};

struct ExperimentDocument {
  std::string name;
  std::string title;
  std::string paper;              ///< short: "Ahn et al. 2023, arXiv 2310.01082"
  std::string published_figures;  ///< in words: "Figures 2, 4 and 5"
  std::string source;
  std::string note;
  std::optional<double> minutes_paper;
  std::optional<double> minutes_quick;
  bool may_diverge = false;  ///< a run that diverges is an outcome, not a failure
  std::string scale;
  std::vector<std::string> overrides;  ///< "KEY=VALUE", which override the whole file
  std::vector<ExperimentVariant> variants;
  std::vector<std::size_t> training_order;  ///< of the variants
  std::vector<ExperimentMeasure> measures;
  std::vector<ExperimentFigure> figures;

  /// The title, or the name if there is none.
  const std::string& shown_title() const { return title.empty() ? name : title; }

  /// The note, which describes the scale "paper"; for another scale, with a remark that says so.
  /// Empty if there is none.
  std::string shown_note() const;
};

/// Reads and checks a document, as far as no other file is needed.
/// @param scale  "paper": the file as it is; otherwise the keys of [scale.NAME] override it.
/// @param overrides  see overrides_from(); they override the scale.
/// @throws ConfigError "FILE:LINE: ...".
ExperimentDocument read_experiment_document(TomlTable root,
                                            const std::filesystem::path& path,
                                            const std::string& scale,
                                            const std::vector<std::string>& overrides = {});

}  // namespace hesscope::detail
