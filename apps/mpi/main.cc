// SPDX-License-Identifier: BSD-3-Clause
//
// hesscope-mpi: hesscope as one of several processes that mpirun or srun have started. The first rank
// is the program; what it asks of objectives the others compute with it.
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>

#include <hesscope/analysis/team_meeting.h>
#include <hesscope/mpi/mpi_team.h>
#include <hesscope/mpi/scalapack_solver.h>

#include "../launcher.h"
#include "../program.h"
#include "../standard_streams.h"

namespace hesscope::cli {
namespace {

constexpr const char* kHelp =
    "hesscope-mpi: hesscope whose work on one checkpoint or grid point is shared by processes\n"
    "\n"
    "Usage: mpirun -n N hesscope-mpi COMMAND ...\n"
    "       srun hesscope-mpi COMMAND ...\n"
    "\n"
    "Commands, options, results and exit codes are those of hesscope (hesscope --help). The "
    "result\n"
    "is the same to the last byte for any N, and that of hesscope without MPI.\n"
    "\n"
    "  analyze, landscape, path\n"
    "                       losses, gradients, Hessians, products with them, gradients of "
    "samples,\n"
    "                       predictions: by all ranks; decompositions: by the first one\n"
    "  analyze --method distributed\n"
    "                       all eigenvalues of a Hessian that no rank holds: one rank a core; the "
    "bytes\n"
    "                       are those of any number of ranks with the same --grid\n"
    "  train, reproduce     refused for N > 1: runs are shared by --part I/N of hesscope\n"
    "  all others           by the first rank; the others do nothing\n"
    "\n"
    "Every rank reads the inputs, which must be the same, by a program that is the same, on\n"
    "processors with the same vector instructions; else the run is refused. One rank a node, with\n"
    "as many threads as the node has cores (--threads), takes the least memory: each rank holds "
    "the\n"
    "samples and, while one is computed, a Hessian.\n";

bool asks_for_help(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "--help";
  return argc < 2 || (argc == 2 && (first == "--help" || first == "-h"));
}

// The first rank is asked to stop, and tells the others.
void leave_signals_to_the_first() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
}

ExitCode run_as(const std::shared_ptr<MpiTeam>& team, Command& command) {
  const bool is_first = team->rank() == 0;
  if (team->size() == 1 && !command.needs_team()) return run_reporting(command);
  command.join(team, [team](int grid) { return scalapack_solver(team, grid); });
  if (!command.shares_work()) return is_first ? run_reporting(command) : ExitCode::kDone;
  if (!is_first) {
    leave_signals_to_the_first();
    command.serve();
    return ExitCode::kDone;
  }
  const ExitCode code = run_reporting(command);
  if (!team->has_begun()) decline(*team);
  return code;
}

}  // namespace
}  // namespace hesscope::cli

int main(int argc, char** argv) {
  using namespace hesscope::cli;
  const LaunchedTask task = launched_task().value_or(LaunchedTask{});
  // The first rank speaks for all.
  if (task.rank > 0) silence();
  if (asks_for_help(argc, argv)) {
    write_text(kHelp);
    return 0;
  }
  const auto team = std::make_shared<hesscope::MpiTeam>(task.size, task.rank);
  return run_program(argc, argv, [&](Command& command) { return run_as(team, command); });
}
