// SPDX-License-Identifier: BSD-3-Clause
//
// The one list of subcommands.
#include "command.h"
#include "commands.h"

namespace hesscope::cli {

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_analyze_command());
  commands.push_back(make_landscape_command());
  commands.push_back(make_path_command());
  commands.push_back(make_train_command());
  commands.push_back(make_reproduce_command());
  commands.push_back(make_inspect_command());
  commands.push_back(make_convert_command());
  commands.push_back(make_plot_command());
  commands.push_back(make_report_command());
  commands.push_back(make_export_command());
  return commands;
}

}  // namespace hesscope::cli
