// SPDX-License-Identifier: BSD-3-Clause
//
// The one list of built-in models.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <hesscope/core/settings.h>
#include <hesscope/models/model.h>

namespace hesscope {

/// A kind of model as a problem file names it.
struct ModelKind {
  std::string name;
  std::string summary;
  std::vector<SettingKey> keys;       ///< of the [model] table, beside `kind`
  std::vector<SettingKey> size_keys;  ///< what a checkpoint would say, for a model without one

  /// The model with the sizes that the checkpoint and the data have. @throws InputError naming the
  /// file, the tensor and the shapes when no sizes fit; what fits is checked in full by
  /// require_parameters() and require_arrays().
  std::function<Model(const Settings&, const TensorShapes& checkpoint, const TensorShapes& data)>
      build;

  /// The model with the sizes that the settings and the data have: a model yet to be initialised.
  /// @param settings  checked against keys_with_sizes().
  /// @param data  shapes as a file would hold them, samples first; checked in full by
  /// require_arrays().
  /// @throws ConfigError where settings contradict each other; InputError as build.
  std::function<Model(const Settings& settings, const TensorShapes& data)> create;

  /// `keys`, then `size_keys`.
  std::vector<SettingKey> keys_with_sizes() const;
};

std::span<const ModelKind> model_kinds();

/// The kind of this name, or nullptr.
const ModelKind* find_model_kind(const std::string& name);

}  // namespace hesscope
