// SPDX-License-Identifier: BSD-3-Clause
//
// The list of checkpoint formats: the built-in ones and those that a program adds.
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

/// A checkpoint format: how to recognise it by its content, and how to open it.
struct FormatKind {
  std::string_view name;  ///< "npz"
  /// ".npz"; used to expand directories and in messages, never to decide.
  std::string_view extension = {};
  std::string_view summary = {};  ///< "NumPy archive"

  /// True if the file's content is of this format. Cheap; must not throw on damaged content that is
  /// still recognisable as this format.
  bool (*recognises)(const InputFile& file);

  /// @throws InputError as open_tensor_file().
  std::unique_ptr<TensorSource> (*open)(std::shared_ptr<const InputFile> file,
                                        const ReadLimits& limits);

  /// Writes tensors, completely or not at all, and syncs the file; nullptr if the format can only
  /// be read. The same tensors give the same bytes.
  /// @throws OutputError naming file and tensor, if the format cannot hold something or the disk
  ///         cannot store it; PreconditionError as write_checkpoint().
  void (*write)(const std::filesystem::path& path,
                std::span<const CheckpointTensor> tensors,
                Existing existing) = nullptr;

  /// Whether write() accepts bfloat16 in addition to all other types.
  bool holds_bfloat16 = false;

  std::string_view other_extension = {};  ///< ".pth": used like the first

  bool names_files = false;  ///< the opened file may name others with tensors
};

/// All formats in the order in which they are tried; those that a program adds come last. The span
/// stays valid forever and does not include formats registered later.
std::span<const FormatKind> format_kinds();

/// Adds a format, for this process, to everything that opens files. Safe to call concurrently with
/// anything that looks at formats. The data of its texts must live as long as the process.
/// @throws PreconditionError if there already is a format of this name, the name is empty, or
///         `recognises` or `open` is missing.
void register_format_kind(const FormatKind& kind);

/// The format of this name. @throws ConfigError with the nearest name and the list.
const FormatKind& find_format_kind(std::string_view name);

/// The format of the file's content, or nullptr. @throws InputError if the file cannot be read, or
/// is larger than `limits` allow.
const FormatKind* recognised_format(const InputFile& file, const ReadLimits& limits = {});

}  // namespace hesscope::io
