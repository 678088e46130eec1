// SPDX-License-Identifier: BSD-3-Clause
//
// The list of models: the built-in ones and those that a program adds.
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

/// What a model is built from, in addition to a checkpoint.
struct ModelSources {
  const Settings& settings;
  const TensorShapes& data;  ///< shapes as a file would hold them, samples first
  /// The folder to which file names in the settings (SettingKey::is_path) are relative: that of the
  /// problem file.
  std::filesystem::path folder = {};
};

/// A kind of model as named in a problem file.
struct ModelKind {
  std::string name;
  std::string summary = {};                ///< one line
  std::vector<std::string> arrays = {};    ///< names of the data arrays, for suggestions
  std::vector<SettingKey> keys = {};       ///< of the [model] table, besides `kind`
  std::vector<SettingKey> size_keys = {};  ///< sizes, for a model without a checkpoint

  /// The model with the sizes of the checkpoint and the data. A kind that reads files lists them in
  /// Model::files. @throws InputError naming the file, the tensor and the shapes if no sizes fit;
  /// the full check is made by require_parameters() and require_arrays().
  std::function<Model(const ModelSources&, const TensorShapes& checkpoint)> build = {};

  /// The model with the sizes of the settings and the data: a model to be initialised. A kind that
  /// a program adds may lack this function; its models cannot be trained.
  /// @param sources  settings checked against keys_with_sizes(); data are fully checked by
  ///                 require_arrays().
  /// @throws ConfigError if settings contradict each other; InputError as build.
  std::function<Model(const ModelSources& sources)> create = {};

  /// Whether models have Model::own_parameters, from which a training may start.
  bool has_own_parameters = false;

  /// Whether an array `predictions` in a data file holds what the model predicts for the samples at
  /// its own parameters or at the first checkpoint, to be compared. Used for models written by
  /// other programs.
  bool checks_predictions = false;

  /// `keys`, followed by `size_keys`.
  std::vector<SettingKey> keys_with_sizes() const;
};

/// In the order of their registration, built-in ones first. The span stays valid forever and does
/// not include kinds registered later.
std::span<const ModelKind> model_kinds();

/// Adds a kind that problem files can name, for this process. Safe to call concurrently with
/// anything that looks at kinds.
/// @throws PreconditionError if there already is a kind of this name, the name is empty, `build` is
///         missing, a key occurs twice or is called `kind`, or the fallback of a key does not have
///         its type.
void register_model_kind(ModelKind kind);

/// The kind of this name, or nullptr.
const ModelKind* find_model_kind(const std::string& name);

}  // namespace hesscope
