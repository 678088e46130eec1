// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include <hesscope/core/settings.h>

namespace hesscope {

/// What a problem file says: which model, which data, nothing else.
///
///   [model]
///   kind = "linear-attention"
///   layers = 3
///   [data]
///   file = "eval.npz"          # relative to the problem file
struct ProblemFile {
  std::filesystem::path path;
  std::string model_kind;
  Settings model;                   ///< the kind's keys, fallbacks filled in
  Settings data;                    ///< file
  std::filesystem::path data_path;  ///< data.file, resolved against the problem file's folder

  /// The problem with every fallback spelled out, as TOML: what is recorded in results.
  std::string resolved_toml() const;
};

/// Reads and checks a problem file.
/// @throws ConfigError "FILE:LINE: what is wrong", for a file that cannot be read, is not TOML, or
/// has an
///         unknown, missing or ill-typed key (with the nearest known one).
ProblemFile read_problem_file(const std::filesystem::path& path);

}  // namespace hesscope
