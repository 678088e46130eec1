// SPDX-License-Identifier: BSD-3-Clause
//
// An experiment file: a problem, the starting point of the training, and runs with different update
// rules.
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
#include <hesscope/tensors/tensor_map.h>

namespace hesscope {

/// Samples stored in a file, or a distribution of samples.
struct DataSettings {
  std::string location;                      ///< "FILE:LINE" of the table, for messages
  std::string sampler;                       ///< its kind; empty for a file
  Settings settings;                         ///< the sampler's keys, fallbacks filled in
  std::filesystem::path path;                ///< of the file
  io::TensorMap arrays = {};                 ///< names in it; no rules = the file's own
  std::vector<std::filesystem::path> files;  ///< all files from which the samples are made
  std::optional<std::int64_t> samples;       ///< if their number is fixed
  std::optional<std::uint64_t> seed;
  bool has_default_seed = false;  ///< whether the seed was not given
};

/// One [[run]]: an update rule and its learning rate. A table with a list `learning_rates` stands
/// for a family: one run per rate, named NAME-RATE.
struct ExperimentRun {
  std::string name;    ///< also of its folder
  std::string family;  ///< the name in the file
  std::string title;   ///< for figures; by default the name
  std::string rule;
  Settings settings;  ///< the rule's, fallbacks filled in
  double learning_rate = 0;
};

/// The contents of an experiment file.
///
///   [model]             as in a problem file, and the sizes that a checkpoint would give
///   [data]              kind = SAMPLER and its keys, or file. Fresh samples for every step;
///                       with `samples` a fixed set: with a `seed`, the set of a problem file with
///                       the same keys, otherwise a separate set for each training seed
///   [evaluation]        samples (1000), seed (99), and keys of [data] that differ
///   [initialization]    distribution and its keys; [initialization.blocks."PATTERN"] for some; or,
///                       overriding these, from_checkpoint = PATH, or from = VARIANT/RUN of a
///                       reproduction. A model with parameters of its own (ModelKind) starts from
///                       them if nothing else is specified
///   [training]          steps, batch, seeds, clip_norm, clip_fraction, loss_limit (1e20),
///                       checkpoint_every, history_every, history_steps (additional ones), trained,
///                       monitors (analyzers run at each row of the history)
///   [monitors]          their options, as named by the analyzers (AnalyzerKind::options)
///   [[run]]             name, title, rule and its keys, learning_rate (or learning_rates)
///
/// [experiment] has name, title, source and note. Tables and keys that only a reproduction reads
/// ([[variant]], [scale], [[measure]], [[figure]], further keys of [experiment]) are left to its
/// reader.
struct ExperimentFile {
  std::filesystem::path path;
  Settings about;  ///< name, title, source, note, if present
  std::string model_kind;
  std::string model_location;
  Settings model;  ///< with the sizes, and fallbacks filled in
  DataSettings data;
  DataSettings evaluation;  ///< has samples and seed, unless it is a file
  Initialization initialization;
  std::string initialization_location;
  std::optional<StartCheckpoint> start;  ///< overrides `initialization`
  std::int64_t num_steps = 0;
  std::int64_t batch = 0;  ///< samples in a batch; 0 = all of a fixed set
  std::vector<std::uint64_t> seeds;
  std::optional<double> clip_norm;
  std::optional<double> clip_fraction;
  double loss_limit = 0;                    ///< ten batch losses in a row above it are divergence
  std::int64_t checkpoint_every = 0;        ///< steps; 0 = only the first and the last
  std::int64_t history_every = 0;           ///< the same
  std::vector<std::int64_t> history_steps;  ///< additional steps, ascending
  std::vector<std::string> monitors;        ///< names of analyzers, as in the file
  std::string monitors_location;
  /// As in the file; they are checked where the monitors are made.
  std::map<std::string, SettingValue> monitor_options = {};
  std::map<std::string, std::string> monitor_option_locations = {};  ///< "" for the table
  std::vector<std::string> trained;  ///< patterns of parameter names
  std::string trained_location;
  std::vector<ExperimentRun> runs;

  /// Whether `trained` differs from all parameters.
  bool names_trained() const { return trained != std::vector<std::string>{"*"}; }

  /// The run of this name, or nullptr.
  const ExperimentRun* find_run(const std::string& name) const;

  /// The problem file for the evaluation samples, to be written to `folder`.
  /// @throws InputError if a file it refers to cannot be named relative to `folder`.
  std::string problem_toml(const std::filesystem::path& folder) const;
};

/// Reads and checks an experiment file, as far as this is possible without other files.
/// @throws ConfigError "FILE:LINE: what is wrong" as read_problem_file().
ExperimentFile read_experiment_file(const std::filesystem::path& path);

}  // namespace hesscope
