// SPDX-License-Identifier: BSD-3-Clause
//
// The one list of checkpoint formats: those built in, and those that a program adds.
//
//   hesscope::io::register_format_kind({.name = "lines", .recognises = ..., .open = ...});
//   const hesscope::io::TensorFile file = hesscope::io::open_tensor_file("step-0.lines");
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include <hesscope/storage/overwrite.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

class InputFile;
struct CheckpointTensor;

/// A checkpoint format: how to tell it by its content, and how to open it.
struct FormatKind {
  std::string_view name;  ///< "npz"
  /// ".npz"; used to expand directories and in messages, never to decide.
  std::string_view extension = {};
  std::string_view summary = {};  ///< "NumPy archive"

  /// True when the file's content is of this format. Cheap; must not throw on damaged content that
  /// still is recognisably of this format.
  bool (*recognises)(const InputFile& file);

  /// @throws InputError as open_tensor_file().
  std::unique_ptr<TensorSource> (*open)(std::shared_ptr<const InputFile> file,
                                        const ReadLimits& limits);

  /// Writes tensors, whole or not at all, and synced; nullptr where the format is only read. The
  /// same tensors give the same bytes.
  /// @throws OutputError naming file and tensor: what the format cannot hold, or what the disk does
  ///         not take; PreconditionError as write_checkpoint().
  void (*write)(const std::filesystem::path& path,
                std::span<const CheckpointTensor> tensors,
                Existing existing) = nullptr;

  /// What write() takes besides all other types.
  bool holds_bfloat16 = false;

  std::string_view other_extension = {};  ///< ".pth": used as the first

  bool names_files = false;  ///< besides the one opened, in which the tensors lie
};

/// All formats, in the order they are tried, those that a program adds last. Valid for good, and
/// without those that are registered later.
std::span<const FormatKind> format_kinds();

/// Adds a format for all that opens files, for this process. Safe to call concurrently with all
/// that looks at formats. What its texts point to must last as long as the process.
/// @throws PreconditionError if there is one of this name, it has no name, or it lacks `recognises`
///         or `open`.
void register_format_kind(const FormatKind& kind);

/// The format of this name. @throws ConfigError with the nearest name and the list.
const FormatKind& find_format_kind(std::string_view name);

/// The format of the file's content, or nullptr. @throws InputError if it cannot be read, or is
/// larger than `limits` allow.
const FormatKind* recognised_format(const InputFile& file, const ReadLimits& limits = {});

}  // namespace hesscope::io
