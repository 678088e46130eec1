// SPDX-License-Identifier: BSD-3-Clause
//
// An experiment file as a reproduction reads it: what is trained, what is measured, which figures
// come of it.
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
  std::string name;   ///< also of its folder; "base" where the file has none
  std::string title;  ///< for figures
  ExperimentFile experiment;
};

/// One [[measure]]: analyzers on the checkpoints of runs.
struct ExperimentMeasure {
  std::string name;  ///< of its result file
  std::string location;
  std::vector<std::string> analyzers;
  std::map<std::string, SettingValue> options;  ///< of the analyzers, those that are given
  SpectrumMethod method = SpectrumMethod::kAuto;
  std::uint64_t seed = 0;                 ///< of all random numbers
  std::optional<std::int64_t> samples;    ///< that it is of; those of [evaluation] unless given
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
  std::vector<std::string> overrides;  ///< "KEY=VALUE" that go over all of the file
  std::vector<ExperimentVariant> variants;
  std::vector<std::size_t> training_order;  ///< of them
  std::vector<ExperimentMeasure> measures;
  std::vector<ExperimentFigure> figures;

  /// The title, or the name where there is none.
  const std::string& shown_title() const { return title.empty() ? name : title; }

  /// The note, which is written about the scale "paper", and that it is where this is another;
  /// empty where there is none.
  std::string shown_note() const;
};

/// Reads and checks a document, as far as that needs no other file.
/// @param scale  "paper": the file as it stands; otherwise the keys of [scale.NAME] go over it.
/// @param overrides  see overrides_from(); over the scale.
/// @throws ConfigError "FILE:LINE: ...".
ExperimentDocument read_experiment_document(TomlTable root,
                                            const std::filesystem::path& path,
                                            const std::string& scale,
                                            const std::vector<std::string>& overrides = {});

}  // namespace hesscope::detail
