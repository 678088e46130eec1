// SPDX-License-Identifier: BSD-3-Clause
//
// The work of main(): parse, run one command, and turn exceptions into a message and an exit code.
#pragma once

#include <functional>

#include "command.h"

namespace hesscope::cli {

/// Runs a command and reports errors.
ExitCode run_reporting(Command& command);

/// @param execute      runs the command on the command line, if there is one.
/// @param is_of_ranks  whether this is hesscope-mpi.
/// @returns the program's exit code.
int run_program(int argc,
                char** argv,
                const std::function<ExitCode(Command& command)>& execute,
                bool is_of_ranks);

}  // namespace hesscope::cli
