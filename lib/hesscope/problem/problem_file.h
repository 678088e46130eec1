// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <hesscope/core/settings.h>

namespace hesscope {

/// What a problem file says: which model, which data, nothing else.
///
///   [model]
///   kind = "linear-attention"
///   layers = 3
///   [data]
///   file = "eval.npz"          # relative to the problem file
///
/// or samples drawn from a distribution (sampler_registry.h): number 0, 1, ... of (seed,
/// Stream::kEvaluation):
///
///   [data]
///   kind = "linear-regression"
///   samples = 1000
///   seed = 99                  # 0 unless given
///   dimension = 5              # and the other keys of the kind
///   context = 20
struct ProblemFile {
  std::filesystem::path path;
  std::string model_kind;
  Settings model;                   ///< the kind's keys, fallbacks filled in
  Settings data;                    ///< file; or kind, samples, seed and the sampler's keys
  std::string sampler_kind;         ///< empty for a file
  std::filesystem::path data_path;  ///< data.file, resolved against the problem file's folder
  std::vector<std::filesystem::path> data_files;  ///< all files that the data are made of

  bool has_sampler() const { return !sampler_kind.empty(); }

  /// The problem with every fallback spelled out, as TOML: what is recorded in results.
  std::string resolved_toml() const;
};

/// Reads and checks a problem file.
/// @throws ConfigError "FILE:LINE: what is wrong", for a file that cannot be read, is not TOML, or
///         has an unknown, missing or ill-typed key (with the nearest known one).
ProblemFile read_problem_file(const std::filesystem::path& path);

}  // namespace hesscope
