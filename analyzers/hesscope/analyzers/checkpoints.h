// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hesscope {

/// A checkpoint to analyze.
struct CheckpointFile {
  std::filesystem::path path;        ///< as given, or found in a given folder
  std::optional<std::int64_t> step;  ///< N of a file named step-N.*
};

/// How checkpoints are read.
struct CheckpointReading {
  std::string key;  ///< part that holds the parameters, see io::TensorFile::part; empty = all
  std::filesystem::path map;                 ///< of names in it (read_tensor_map()); empty = none
  std::vector<std::string> expected_sha256;  ///< one for each checkpoint, or none
};

/// Expands what a user names: a file stands for itself, a folder for the files named step-N.* in
/// it, in the order of N.
/// @param format  keeps only this format's files (by extension) of a folder; empty = any.
/// @throws InputError for a folder without checkpoints, or with the same step in two formats
///         (asking for --format); ConfigError for an unknown format. A named file that does not
///         exist is not noticed here.
std::vector<CheckpointFile> expand_checkpoints(const std::vector<std::filesystem::path>& named,
                                               const std::string& format = "");

/// The files of a folder that expand_checkpoints() leaves out although they seem to be meant: those
/// named step-SOMETHING.EXT with a checkpoint format's extension, but no whole number.
std::vector<std::filesystem::path> unnumbered_checkpoints(const std::filesystem::path& folder);

}  // namespace hesscope
