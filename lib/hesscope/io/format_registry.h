// SPDX-License-Identifier: BSD-3-Clause
//
// The one list of checkpoint formats.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include <hesscope/io/tensor_file.h>

namespace hesscope::io {

/// A checkpoint format: how to tell it by its content, and how to open it.
struct Format {
  std::string_view name;  ///< "npz"
  std::string_view
      extension;  ///< ".npz"; used to expand directories and in messages, never to decide
  std::string_view summary;  ///< "NumPy archive"

  /// True when the file's content is of this format. Cheap; must not throw on damaged content that
  /// still is recognisably of this format.
  bool (*recognises)(const std::filesystem::path& path);

  /// @throws InputError as open_tensor_file().
  std::unique_ptr<TensorSource> (*open)(const std::filesystem::path& path,
                                        const ReadLimits& limits);

  std::string_view other_extension = {};  ///< ".pth": used as the first
};

/// All formats, in the order they are tried.
std::span<const Format> formats();

}  // namespace hesscope::io
