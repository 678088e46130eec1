// SPDX-License-Identifier: BSD-3-Clause
//
// What the name of a checkpoint says of the step it is of.
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
  /// The name with a '\0' for each of them, without the ending of its format: "model_e?_s?",
  /// where ? is '\0'.
  std::string pattern;
  /// In their order; nothing for one beyond kLargestStep.
  std::vector<std::optional<std::int64_t>> numbers;
  std::vector<std::string> words;  ///< before each of them, in lower case: "e", "s"
  /// Whether these are of its folder, as in checkpoint-500/model.safetensors.
  bool is_of_folder = false;
};

/// The numbers of a file's name; where it has none but such as are of a word (mlp2.pt) or of a
/// process (mp_rank_00.pt), that of a folder named as programs name one for each checkpoint:
/// checkpoint-500, ckpt_500, step500, epoch=5. Numbers with a fraction (of "val_loss=0.32") or a
/// sign ("step--3") count as text.
NumberedName numbered_name(const std::filesystem::path& path);

/// Which of the numbers of names of one pattern is the step: of those that are not the same in all
/// of them the last behind a word for steps, or else for epochs, or else the last.
std::size_t step_position(std::span<const NumberedName> names);

/// N of a file named step-N or step-N.*.
std::optional<std::int64_t> step_of_convention(const std::filesystem::path& path);

/// That, or else of the numbers of numbered_name() the last behind a word for steps, or else for
/// epochs, or else the last.
std::optional<std::int64_t> step_in_name(const std::filesystem::path& path);

/// Whether a number stands behind a word for steps, as in "model_s200" or "iter-300".
bool counts_steps(const NumberedName& name);

/// Whether none does, but one behind a word for epochs.
bool counts_epochs(const NumberedName& name);

/// Whether that at `position` stands behind a word for steps or epochs.
bool is_of_step(const NumberedName& name, std::size_t position);

/// Whether names of several patterns all have one number, or one behind a word for steps or epochs,
/// behind the same word and of the same unit (not 500 and 2k).
bool are_comparable(std::span<const NumberedName> names);

/// The format that files with this ending mostly are of, or nullptr. Never decides how one is read.
const io::FormatKind* format_by_ending(const std::filesystem::path& path);

/// The folder of the training run that a file is of, as its path has it: the one it lies in, or the
/// one around that where NumberedName::is_of_folder.
std::filesystem::path named_run_folder(const std::filesystem::path& path);

/// That folder for comparison, whole and without detours.
std::filesystem::path run_folder(const std::filesystem::path& path);

}  // namespace hesscope::detail
