// SPDX-License-Identifier: BSD-3-Clause
//
// hesscope-mpi: hesscope as one of several processes started by mpirun or srun. The first rank is
// the program; the others help to compute what it asks of objectives.
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <hesscope/analysis/team_meeting.h>
#include <hesscope/mpi/distributed_solver.h>
#include <hesscope/mpi/mpi_team.h>

#include "../help_text.h"
#include "../last_words.h"
#include "../launcher.h"
#include "../program.h"
#include "../program_text.h"
#include "../standard_streams.h"

namespace hesscope::cli {
namespace {

std::string help_text() {
  HelpText commands;
  commands.begin_group("Commands");
  for (const auto& [command, shared] : ranks_commands()) commands.add(command, shared);
  std::string text = fmt::format(
      "hesscope-mpi: {}\n\nUsage:\n  mpirun -n N hesscope-mpi COMMAND ...\n  srun hesscope-mpi "
      "COMMAND "
      "...\n{}\nExamples:\n",
      kRanksPurpose,
      commands.text());
  for (const std::string& example : ranks_examples()) text += wrapped_command(example);
  for (const std::string& paragraph : ranks_description()) text += "\n" + wrapped(paragraph, 0);
  return text;
}

bool asks_for_help(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "--help";
  return argc < 2 || (argc == 2 && (first == "--help" || first == "-h"));
}

// Only the first rank reacts to signals; it tells the others to stop.
void leave_signals_to_the_first() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
}

ExitCode run_as(const std::shared_ptr<MpiTeam>& team, Command& command) {
  const bool is_first = team->rank() == 0;
  if (team->size() == 1 && !command.needs_team()) return run_reporting(command);
  command.join(team, [team](DistributedEngine engine, int grid) {
    return distributed_solver(team, engine, grid);
  });
  if (!command.shares_work()) return is_first ? run_reporting(command) : ExitCode::kDone;
  if (!is_first) {
    leave_signals_to_the_first();
    try {
      command.serve();
      return ExitCode::kDone;
    } catch (const std::exception&) {  // the ranks have not met: the first reports why
      return ExitCode::kFailed;
    }
  }
  leave_last_words(fmt::format(
      "hesscope {}: {} has died; what is finished is kept, and the same command continues "
      "from there, on any number of ranks\n",
      command.name(),
      team->place()));
  const ExitCode code = run_reporting(command);
  if (!team->has_begun()) {
    try {
      decline(*team);
    } catch (const std::exception&) {  // the error that ends the command was reported already
    }
  }
  take_back_last_words();
  return code;
}

int run_rank(int argc, char** argv) {
  const LaunchedTask task = launched_task().value_or(LaunchedTask{});
  // Only the first rank prints.
  if (task.rank > 0) silence();
  if (asks_for_help(argc, argv)) {
    write_text(help_text());
    return 0;
  }
  const auto team = std::make_shared<MpiTeam>(task.size, task.rank);
  return run_program(
      argc, argv, [&](Command& command) { return run_as(team, command); }, true);
}

}  // namespace
}  // namespace hesscope::cli

int main(int argc, char** argv) { return hesscope::cli::run_rank(argc, argv); }
