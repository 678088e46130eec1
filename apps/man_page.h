// SPDX-License-Identifier: BSD-3-Clause
//
// The manual pages, from the same declarations as the help texts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command.h"

namespace hesscope::cli {

/// hesscope(1): the program, its commands, exit codes, files and environment, in the macros of
/// man(7).
std::string man_page(const std::vector<std::unique_ptr<Command>>& commands);

/// hesscope-COMMAND(1): usage, options with their groups, examples.
/// @param command  whose options are declared.
std::string man_page(const Command& command, const std::vector<std::unique_ptr<Command>>& commands);

/// hesscope-mpi(1).
std::string man_page_of_ranks();

}  // namespace hesscope::cli
