// SPDX-License-Identifier: BSD-3-Clause
//
// The end of the output of `hesscope analyze` on a terminal: the most important numbers, the
// spectra as lines of characters, and commands to type next.
#pragma once

#include <string>

#include <hesscope/analysis/analysis.h>
#include <hesscope/dataset/result_reader.h>

#include "terminal.h"

namespace hesscope::cli {

/// A line for each checkpoint, or for some of them if there are many, no wider than the terminal.
/// @param file  the result that was written.
std::string overview_text(const AnalysisResult& result,
                          const io::ResultReader& file,
                          const Terminal& terminal);

/// Two commands on the result that work as they are: quoted for a shell, with outputs that do not
/// exist yet.
std::string next_commands_text(const io::ResultReader& file, const std::string& output);

}  // namespace hesscope::cli
