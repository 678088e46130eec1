// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/core/settings.h>
#include <hesscope/tensors/tensor_map.h>

namespace hesscope {

/// The contents of a problem file: which model, which data, and what is known of the loss.
///
///   [model]
///   kind = "linear-attention"
///   layers = 3
///   [data]
///   file = "eval.npz"          # relative to the problem file
///   [data.arrays]              # may be left out: names of arrays in the file
///   Z = "prompts"              # of a tuple "0", "1", ..., within a dict "train.X"
///
/// or, for samples drawn from a distribution (sampler_registry.h), number 0, 1, ... of (seed,
/// Stream::kEvaluation):
///
///   [data]
///   kind = "linear-regression"
///   samples = 1000
///   seed = 99                  # 0 unless given
///   dimension = 5              # and the other keys of the kind
///   context = 20
///
/// and, if known, the loss, for comparison: of a single checkpoint, or by step
///
///   [check]
///   loss = 0.00128             # loss = { 0 = 2.71828, 500 = 0.00128 }
struct ProblemFile {
  std::filesystem::path path;
  std::string model_kind;
  std::string model_place;          ///< of [model], for messages
  Settings model;                   ///< the kind's keys, fallbacks filled in
  Settings data;                    ///< file; or kind, samples, seed and the sampler's keys
  std::string sampler_kind;         ///< empty for a file
  std::filesystem::path data_path;  ///< data.file, resolved against the problem file's folder
  std::vector<std::filesystem::path> data_files;  ///< all files from which the data are made
  io::TensorMap data_arrays = {};            ///< names in a data file; no rules = the file's own
  std::optional<double> expected_loss = {};  ///< of a single checkpoint
  std::map<std::int64_t, double> expected_losses = {};  ///< by step
  std::string check_place = {};  ///< of [check], for messages; empty without it

  bool has_sampler() const { return !sampler_kind.empty(); }

  /// The problem as TOML with every fallback spelled out, as recorded in results.
  std::string resolved_toml() const;
};

/// Reads and checks a problem file.
/// @throws ConfigError "FILE:LINE: what is wrong", for a file that cannot be read, is not TOML, or
///         has an unknown, missing or ill-typed key (with the nearest known one).
ProblemFile read_problem_file(const std::filesystem::path& path);

}  // namespace hesscope
