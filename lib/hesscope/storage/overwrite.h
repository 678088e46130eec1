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
  kOwnKind,   ///< a file of the kind that is written, or an empty one
  kAnything,  ///< any file
};

/// What becomes of a file that is there where another one is written.
enum class Existing {
  kRefuse,  ///< it stays, and writing is refused
  kReplace,
};

/// The same of an output of which require_replaceable() has found that it may be written.
Existing existing_of(Overwrite overwrite);

/// Why a file that is there may not be replaced, and what would allow it: as require_replaceable()
/// says it, behind the file's name. Empty where it may be, or where there is none.
std::string refusal_to_replace(const std::filesystem::path& output,
                               Overwrite overwrite,
                               const std::string& kind,
                               const std::function<bool()>& is_of_kind);

/// To be called before the work, so that nobody loses a file that this program never made.
/// @param kind        of what is written, as in "an SVG figure".
/// @param is_of_kind  whether the file that is there is one; called where that matters.
/// @throws OutputError where a folder stands at `output`, or a file that may not be replaced, with
///         what would allow it. A link counts as what it leads to, one that leads nowhere as a
///         file of no kind.
void require_replaceable(const std::filesystem::path& output,
                         Overwrite overwrite,
                         const std::string& kind,
                         const std::function<bool()>& is_of_kind);

/// Whether a file begins with one of these texts. False where it cannot be read.
bool begins_with(const std::filesystem::path& path, const std::vector<std::string>& beginnings);

}  // namespace hesscope::io
