// SPDX-License-Identifier: BSD-3-Clause
//
// The one list of models: those built in, and those that a program adds.
//
//   hesscope::register_model_kind({.name = "ridge", .build = build_ridge});
//   const hesscope::Problem problem(hesscope::read_problem_file("ridge.toml"), checkpoint);
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <hesscope/core/settings.h>
#include <hesscope/models/model.h>
#include <hesscope/models/tensor_shapes.h>

namespace hesscope {

/// What a model is made of besides a checkpoint.
struct ModelSources {
  const Settings& settings;
  const TensorShapes& data;  ///< shapes as a file would hold them, samples first
  /// What relative names of files in the settings (SettingKey::is_path) are relative to: the folder
  /// of the problem file.
  std::filesystem::path folder = {};
};

/// A kind of model as a problem file names it.
struct ModelKind {
  std::string name;
  std::string summary = {};                ///< one line
  std::vector<std::string> arrays = {};    ///< names of the data arrays, for suggestions
  std::vector<SettingKey> keys = {};       ///< of the [model] table, besides `kind`
  std::vector<SettingKey> size_keys = {};  ///< what a checkpoint would say, for a model without one

  /// The model with the sizes that the checkpoint and the data have. A kind that reads files says
  /// so in Model::files. @throws InputError naming the file, the tensor and the shapes when no
  /// sizes fit; what fits is checked in full by require_parameters() and require_arrays().
  std::function<Model(const ModelSources&, const TensorShapes& checkpoint)> build = {};

  /// The model with the sizes that the settings and the data have: a model yet to be initialised.
  /// @param sources  settings checked against keys_with_sizes(), data in full by require_arrays().
  /// @throws ConfigError where settings contradict each other; InputError as build.
  /// A kind that a program adds may be without: it cannot be trained.
  std::function<Model(const ModelSources& sources)> create = {};

  /// Whether models have Model::own_parameters, which a training may start from.
  bool has_own_parameters = false;

  /// Whether an array `predictions` in a data file is what the model predicts for the samples at
  /// its own parameters or at the first checkpoint, to be compared: where models are written by
  /// other programs.
  bool checks_predictions = false;

  /// `keys`, then `size_keys`.
  std::vector<SettingKey> keys_with_sizes() const;
};

/// In the order of their registration, those built in first. Valid for good, and without kinds that
/// are registered later.
std::span<const ModelKind> model_kinds();

/// Adds a kind for problem files to name, for this process. Safe to call concurrently with all that
/// looks at kinds.
/// @throws PreconditionError if there is one of this name, it has no name or no `build`, or two of
///         its keys, or one and `kind`, have the same name, or the fallback of one is not of its
///         type.
void register_model_kind(ModelKind kind);

/// The kind of this name, or nullptr.
const ModelKind* find_model_kind(const std::string& name);

}  // namespace hesscope
