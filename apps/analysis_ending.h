// SPDX-License-Identifier: BSD-3-Clause
//
// What `hesscope analyze` ends with on a terminal: the numbers that one looks at first, the spectra
// as lines, and what to type next.
#pragma once

#include <string>

#include <hesscope/analysis/analysis.h>
#include <hesscope/dataset/result_reader.h>

#include "terminal.h"

namespace hesscope::cli {

/// A line for each checkpoint, of many for some of them, as wide as the terminal at most.
/// @param file  what was written.
std::string overview_text(const AnalysisResult& result,
                          const io::ResultReader& file,
                          const Terminal& terminal);

/// Two commands on the result, which work as they are: quoted for a shell, with outputs that do not
/// exist yet.
std::string next_commands_text(const io::ResultReader& file, const std::string& output);

}  // namespace hesscope::cli
