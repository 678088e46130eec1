// SPDX-License-Identifier: BSD-3-Clause
//
// What the name of a checkpoint says about its step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hesscope/tensors/format_registry.h>

namespace hesscope::detail {

/// Steps are whole numbers up to here, which doubles hold exactly: 2^53.
inline constexpr std::int64_t kLargestStep = std::int64_t{1} << 53;

/// The whole numbers in a checkpoint's name.
struct NumberedName {
  /// The name with a '\0' in place of each number, without the ending of its format: "model_e?_s?",
  /// where ? is '\0'.
  std::string pattern;
  /// In their order; nothing for a number beyond kLargestStep.
  std::vector<std::optional<std::int64_t>> numbers;
  std::vector<std::string> words;  ///< before each of them, in lower case: "e", "s"
  /// Whether these come from its folder, as in checkpoint-500/model.safetensors.
  bool is_of_folder = false;
};

/// The numbers in a file's name. If it has only numbers that belong to a word (mlp2.pt) or to a
/// process (mp_rank_00.pt), the number of its folder, if the folder is named as programs name one
/// for each checkpoint: checkpoint-500, ckpt_500, step500, epoch=5. Numbers with a fraction (as in
/// "val_loss=0.32") or a sign ("step--3") count as text.
NumberedName numbered_name(const std::filesystem::path& path);

/// Which of the numbers of names with one pattern is the step: among those that are not the same in
/// all names, the last one after a word for steps, or else for epochs, or else the last.
std::size_t step_position(std::span<const NumberedName> names);

/// N of a file named step-N or step-N.*, else nothing.
std::optional<std::int64_t> step_of_convention(const std::filesystem::path& path);

/// N of step-N, or else, among the numbers of numbered_name(), the last one after a word for steps,
/// or else for epochs, or else the last.
std::optional<std::int64_t> step_in_name(const std::filesystem::path& path);

/// Whether a number follows a word for steps, as in "model_s200" or "iter-300".
bool counts_steps(const NumberedName& name);

/// Whether no number follows a word for steps, but one follows a word for epochs.
bool counts_epochs(const NumberedName& name);

/// Whether the number at `position` follows a word for steps or epochs.
bool is_of_step(const NumberedName& name, std::size_t position);

/// Whether names with several patterns all have one number, or one number after a word for steps or
/// epochs, which follows the same word and has the same unit (not 500 and 2k).
bool are_comparable(std::span<const NumberedName> names);

/// The format to which files with this ending usually belong, or nullptr. Never decides how a file
/// is read.
const io::FormatKind* format_by_ending(const std::filesystem::path& path);

/// The folder of the training run to which a file belongs, as its path says: the folder of the
/// file, or the one around it if NumberedName::is_of_folder.
std::filesystem::path named_run_folder(const std::filesystem::path& path);

/// That folder, absolute and normalised for comparison.
std::filesystem::path run_folder(const std::filesystem::path& path);

}  // namespace hesscope::detail
