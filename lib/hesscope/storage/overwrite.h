// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace hesscope::io {

/// What an output may replace.
enum class Overwrite {
  kNothing,
  kOwnKind,   ///< a file of the same kind, or an empty one
  kAnything,  ///< any file
};

/// What to do with an existing file when another one is written in its place.
enum class Existing {
  kRefuse,  ///< it stays, and writing is refused
  kReplace,
};

/// For an output that require_replaceable() has accepted.
Existing existing_of(Overwrite overwrite);

/// Why an existing file may not be replaced, and what would allow it, in the words with which
/// require_replaceable() follows the file's name. Empty if it may be replaced or does not exist.
std::string refusal_to_replace(const std::filesystem::path& output,
                               Overwrite overwrite,
                               const std::string& kind,
                               const std::function<bool()>& is_of_kind);

/// To be called before the work, so that users do not lose a file that this program did not make.
/// @param kind        the kind of file to be written, such as "an SVG figure".
/// @param is_of_kind  whether the existing file is of that kind; called only when it matters.
/// @throws OutputError if `output` is a folder, or a file that may not be replaced; the message
///         says what would allow it. A link counts as its target, a dangling one as a file of
///         another kind.
void require_replaceable(const std::filesystem::path& output,
                         Overwrite overwrite,
                         const std::string& kind,
                         const std::function<bool()>& is_of_kind);

/// Whether a file begins with one of these texts. False where it cannot be read.
bool begins_with(const std::filesystem::path& path, const std::vector<std::string>& beginnings);

}  // namespace hesscope::io
