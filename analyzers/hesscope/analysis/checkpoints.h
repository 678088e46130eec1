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
  std::optional<std::int64_t> step;  ///< the one its name tells; of a result, the one it is of
};

/// Which order checkpoints are taken in.
enum class CheckpointOrder {
  kByStep,  ///< by the steps that the files or their names tell (order_checkpoints())
  kGiven,   ///< as they are given, and that is the order of the training
};

/// How checkpoints are read.
struct CheckpointReading {
  std::string key;  ///< part that holds the parameters, see io::TensorFile::part; empty = all
  std::filesystem::path map;                 ///< of names in it (read_tensor_map()); empty = none
  std::vector<std::string> expected_sha256;  ///< one for each checkpoint as given, or none
  CheckpointOrder order = CheckpointOrder::kByStep;
  std::string step_key = {};  ///< the number in the files that is the step; empty = what is there
  /// The mean loss of each checkpoint as given, or none: what is computed is compared with it.
  std::vector<double> expected_losses = {};
  std::vector<std::string> remarks = {};  ///< on what was given, for the warnings of results
};

/// What a folder stands for as checkpoints.
struct CheckpointFolder {
  std::vector<CheckpointFile> files;  ///< in the order of the steps in their names
  /// On files left out although they seem to be meant: a sentence, or none.
  std::vector<std::string> remarks;
};

/// A folder stands for the files named step-N.* in it. Where there is none, for those with the
/// ending of a checkpoint format whose names are the same but for their numbers: epoch_5.pt,
/// ckpt-000100.npz, model_e5_s200.pt; of several such sets for the largest.
/// @param format  keeps only this format's files (by ending); empty = any.
/// @throws InputError for a folder without checkpoints, with two sets of one size, or with the same
///         step in two formats (asking for one); ConfigError for an unknown format.
CheckpointFolder checkpoints_in_folder(const std::filesystem::path& folder,
                                       const std::string& format = "");

/// Expands what a user names: a file stands for itself, a folder for checkpoints_in_folder(). Steps
/// are those of the names.
/// @param remarks  if not null, what was left out of folders is added to it.
/// @throws as checkpoints_in_folder(). A named file that does not exist is not noticed here.
std::vector<CheckpointFile> expand_checkpoints(const std::vector<std::filesystem::path>& named,
                                               const std::string& format = "",
                                               std::vector<std::string>* remarks = nullptr);

}  // namespace hesscope
