// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "command.h"

namespace hesscope::cli {

/// The request of a command line.
struct Invocation {
  Command* command = nullptr;  ///< to run; nullptr when there is nothing more to do
  ExitCode exit_code = ExitCode::kDone;
};

/// Parses the command line into one of the commands. Prints help and version to stdout, and usage
/// errors, with the nearest option or command, to stderr. The only code that uses the parser.
/// @param is_of_ranks  whether this is hesscope-mpi, which also has a manual page.
Invocation parse_command_line(int argc,
                              const char* const* argv,
                              const std::vector<std::unique_ptr<Command>>& commands,
                              bool is_of_ranks);

}  // namespace hesscope::cli
