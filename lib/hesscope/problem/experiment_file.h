// SPDX-License-Identifier: BSD-3-Clause
//
// An experiment file: a problem, where training starts, and runs that differ in their update rules.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/core/settings.h>
#include <hesscope/optim/initialization.h>
#include <hesscope/problem/start_checkpoint.h>

namespace hesscope {

/// Samples that a file holds, or a distribution of them.
struct DataSettings {
  std::string location;                      ///< "FILE:LINE" of the table, for messages
  std::string sampler;                       ///< its kind; empty for a file
  Settings settings;                         ///< the sampler's keys, fallbacks filled in
  std::filesystem::path path;                ///< of the file
  std::vector<std::filesystem::path> files;  ///< all that the samples are made of
  std::optional<std::int64_t> samples;       ///< a fixed number of them
  std::optional<std::uint64_t> seed;
  bool has_default_seed = false;  ///< that nobody has given
};

/// One [[run]]: an update rule and its learning rate. With a list `learning_rates` a table stands
/// for a family: one run for each rate, named NAME-RATE.
struct ExperimentRun {
  std::string name;    ///< also of its folder
  std::string family;  ///< the name in the file
  std::string title;   ///< for figures; the name where the file has none
  std::string rule;
  Settings settings;  ///< the rule's, fallbacks filled in
  double learning_rate = 0;
};

/// What an experiment file says.
///
///   [model]             as in a problem file, and the sizes that a checkpoint would give
///   [data]              kind = SAMPLER and its keys, or file. Fresh samples for every step;
///                       with `samples` a fixed set of them: that of a problem file with the same
///                       keys where there is a `seed`, otherwise each seed's own
///   [evaluation]        samples (1000), seed (99), and keys of [data] that differ
///   [initialization]    distribution and its keys; [initialization.blocks."PATTERN"] of some; or,
///                       over these, from_checkpoint = PATH, or from = VARIANT/RUN of a
///                       reproduction. A model with parameters of its own (ModelKind) starts from
///                       them where nothing else is said
///   [training]          steps, batch, seeds, clip_norm, clip_fraction, loss_limit (1e20),
///                       checkpoint_every, history_every, history_steps (further ones), trained,
///                       monitors (analyzers at each row of the history)
///   [monitors]          their options, as analyzers name them (AnalyzerKind::options)
///   [[run]]             name, title, rule and its keys, learning_rate (or learning_rates)
///
/// [experiment] has name, title, source and note. What else a reproduction reads ([[variant]],
/// [scale], [[measure]], [[figure]], further keys of [experiment]) is left to whoever reads it.
struct ExperimentFile {
  std::filesystem::path path;
  Settings about;  ///< name, title, source, note, those that are there
  std::string model_kind;
  std::string model_location;
  Settings model;  ///< with the sizes, fallbacks filled in
  DataSettings data;
  DataSettings evaluation;  ///< has samples and seed, unless it is a file
  Initialization initialization;
  std::string initialization_location;
  std::optional<StartCheckpoint> start;  ///< goes over `initialization`
  std::int64_t num_steps = 0;
  std::int64_t batch = 0;  ///< samples in a batch; 0 = all of a fixed set
  std::vector<std::uint64_t> seeds;
  std::optional<double> clip_norm;
  std::optional<double> clip_fraction;
  double loss_limit = 0;                    ///< batch losses above it, ten in a row, are divergence
  std::int64_t checkpoint_every = 0;        ///< steps; 0 = only the first and the last
  std::int64_t history_every = 0;           ///< the same
  std::vector<std::int64_t> history_steps;  ///< further steps, ascending
  std::vector<std::string> monitors;        ///< names of analyzers, as the file has them
  std::string monitors_location;
  /// As the file has them; whoever makes the monitors checks them.
  std::map<std::string, SettingValue> monitor_options = {};
  std::map<std::string, std::string> monitor_option_locations = {};  ///< "" of the table
  std::vector<std::string> trained;  ///< patterns of parameter names
  std::string trained_location;
  std::vector<ExperimentRun> runs;

  /// Whether `trained` is anything but all there is.
  bool names_trained() const { return trained != std::vector<std::string>{"*"}; }

  /// The run of this name, or nullptr.
  const ExperimentRun* find_run(const std::string& name) const;

  /// The problem file on the evaluation samples, for a file in `folder`.
  /// @throws InputError if a file it names cannot be named from there.
  std::string problem_toml(const std::filesystem::path& folder) const;
};

/// Reads and checks an experiment file, as far as that needs no other file.
/// @throws ConfigError "FILE:LINE: what is wrong" as read_problem_file().
ExperimentFile read_experiment_file(const std::filesystem::path& path);

}  // namespace hesscope
