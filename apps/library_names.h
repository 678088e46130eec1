// SPDX-License-Identifier: BSD-3-Clause
//
// Translates names of the library, which its messages put in backquotes, to those of the command
// line.
#pragma once

#include <functional>
#include <string>

namespace hesscope::cli {

/// The option for a setting or a member of a request, whether a command has it or not: "--images"
/// for "num_images", "--force --force" for "Overwrite::kAnything".
std::string option_named(const std::string& name);

/// The command for a function of the library ("run_training()") or for an analyzer ("analyzer
/// noise"); empty if there is none.
std::string command_of(const std::string& function);

/// @param replacement  for a name, without its backquotes; if it is empty, the name stays.
std::string with_names_replaced(
    const std::string& message,
    const std::function<std::string(const std::string& name)>& replacement);

}  // namespace hesscope::cli
