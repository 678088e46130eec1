// SPDX-License-Identifier: BSD-3-Clause
#include "program.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <hesscope/analyzers/option_error.h>
#include <hesscope/core/error.h>
#include <hesscope/core/progress.h>
#include <hesscope/core/shell.h>
#include <hesscope/linalg/blas.h>
#include <hesscope/problem/problem.h>

#include "command_line.h"
#include "interrupt.h"
#include "process_setup.h"
#include "standard_streams.h"

namespace hesscope::cli {
namespace {

ExitCode report(const Command& command, std::string_view message, ExitCode code) {
  print_message("hesscope {}: {}\n", command.name(), command.with_flags(std::string(message)));
  return code;
}

// Ends the program at once if OpenBLAS's threads may be waiting for address space: exit() would
// wait for them.
void check_address_space() {
  try {
    require_blas_addresses();
  } catch (const OutputError& error) {
    print_message("hesscope: {}\n", error.what());
    std::_Exit(static_cast<int>(ExitCode::kFailed));
  }
}

}  // namespace

ExitCode run_reporting(Command& command) {
  try {
    return command.run();
  } catch (const OptionError& error) {
    print_usage_error(command.name(), fmt::format("--{}: {}", error.key(), error.problem()));
    return ExitCode::kUsage;
  } catch (const UsageError& error) {
    print_usage_error(command.name(), error.what());
    return ExitCode::kUsage;
  } catch (const LackingError& error) {
    print_message("hesscope {}: {}\n  {}\n",
                  command.name(),
                  command.with_flags(error.what()),
                  error.command_line());
    return ExitCode::kBadInput;
  } catch (const MisfitError& error) {
    return report(command,
                  fmt::format("{}: `hesscope inspect {} --problem {}` says what of the checkpoint "
                              "fits it; where only names differ, --map FILE.toml says which is "
                              "which and which tensors to ignore",
                              error.what(),
                              shell_word(error.checkpoint().string()),
                              shell_word(error.problem().string())),
                  ExitCode::kBadInput);
  } catch (const Interrupted&) {
    return report_interrupt(command);
  } catch (const std::bad_alloc&) {
    return report(command, "out of memory; --dry-run foresees what is needed", ExitCode::kFailed);
  } catch (const std::exception& error) {
    return report(command, error.what(), exit_code_of(error));
  }
}

int run_program(int argc,
                char** argv,
                const std::function<ExitCode(Command& command)>& execute,
                bool is_of_ranks) {
  reserve_standard_streams();
  if (!widen_stack()) return static_cast<int>(ExitCode::kFailed);
  keep_freed_memory();
  report_missing_instructions();
  ignore_size_limit_signal();
  check_address_space();
  use_one_blas_thread();
  const auto commands = all_commands();
  const Invocation invocation = parse_command_line(argc, argv, commands, is_of_ranks);
  ExitCode code = invocation.exit_code;
  if (invocation.command != nullptr) code = execute(*invocation.command);
  // Printed text may still be buffered; a full disk shows only here.
  if (const int error = standard_output_error(); error != 0) {
    print_message("hesscope: standard output: {}\n", std::strerror(error));
    code = ExitCode::kFailed;
  }
  return static_cast<int>(code);
}

}  // namespace hesscope::cli
