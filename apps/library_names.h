// SPDX-License-Identifier: BSD-3-Clause
//
// Names of the library, which its messages have in backquotes, as they are on a command line.
#pragma once

#include <functional>
#include <string>

namespace hesscope::cli {

/// The option that sets a setting or a member of a request, whether a command has it or not:
/// "--images" for "num_images", "--force --force" for "Overwrite::kAnything".
std::string option_named(const std::string& name);

/// The command that does what a function of the library does ("run_training()"), or an analyzer
/// ("analyzer noise"); empty where there is none.
std::string command_of(const std::string& function);

/// @param replacement  of a name, without its backquotes; where it is empty the name stays.
std::string with_names_replaced(
    const std::string& message,
    const std::function<std::string(const std::string& name)>& replacement);

}  // namespace hesscope::cli
