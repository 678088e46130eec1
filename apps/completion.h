// SPDX-License-Identifier: BSD-3-Clause
//
// Shell completion from the same declarations as the help texts: commands, options, their possible
// values, and files of the right kind.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command.h"

namespace hesscope::cli {

/// Scripts for bash (share/bash-completion/completions/hesscope), zsh (a function `_hesscope`) and
/// fish (vendor_completions.d/hesscope.fish).
/// @param commands  with their options declared.
std::string bash_completion(const std::vector<std::unique_ptr<Command>>& commands);
std::string zsh_completion(const std::vector<std::unique_ptr<Command>>& commands);
std::string fish_completion(const std::vector<std::unique_ptr<Command>>& commands);

}  // namespace hesscope::cli
