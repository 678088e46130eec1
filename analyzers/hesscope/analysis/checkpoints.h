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
  std::optional<std::int64_t> step;  ///< from its name; for a result, that of its checkpoint
};

/// In which order checkpoints are taken.
enum class CheckpointOrder {
  kByStep,  ///< by the steps that the files or their names tell (order_checkpoints())
  kGiven,   ///< as they are given, which is the order of the training
};

/// How checkpoints are read.
struct CheckpointReading {
  std::string key;  ///< part that holds the parameters, see io::TensorFile::part; empty = all
  std::filesystem::path map;                 ///< for its names (read_tensor_map()); empty = none
  std::vector<std::string> expected_sha256;  ///< one for each given checkpoint, or empty
  CheckpointOrder order = CheckpointOrder::kByStep;
  std::string step_key = {};  ///< which number in the files is the step; empty = any that is there
  /// The mean loss of each given checkpoint, to be compared with the computed one; may be empty.
  std::vector<double> expected_losses = {};
  std::vector<std::string> remarks = {};  ///< on what was given, for the warnings of results
};

/// What a folder stands for as checkpoints.
struct CheckpointFolder {
  std::vector<CheckpointFile> files;  ///< in the order of the steps in their names
  /// One sentence about files that were left out although they seem to be meant, or nothing.
  std::vector<std::string> remarks;
};

/// A folder stands for the files in it that are named step-N.*. If there are none, it stands for
/// those with the ending of a checkpoint format whose names differ only in their numbers:
/// epoch_5.pt, ckpt-000100.npz, model_e5_s200.pt. If there are several such sets, it stands for the
/// largest.
/// @param format  keeps only this format's files (by ending); empty = any.
/// @throws InputError for a folder without checkpoints, with two largest sets of the same size, or
///         with the same step in two formats (it asks for one); ConfigError for an unknown format.
CheckpointFolder checkpoints_in_folder(const std::filesystem::path& folder,
                                       const std::string& format = "");

/// Expands what a user names: a file stands for itself, a folder for checkpoints_in_folder(). Steps
/// come from the names.
/// @param remarks  if not null, remarks on files left out of folders are added to it.
/// @throws as checkpoints_in_folder(). A named file that does not exist is not detected here.
std::vector<CheckpointFile> expand_checkpoints(const std::vector<std::filesystem::path>& named,
                                               const std::string& format = "",
                                               std::vector<std::string>* remarks = nullptr);

}  // namespace hesscope
