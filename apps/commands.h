// SPDX-License-Identifier: BSD-3-Clause
//
// The subcommands, each in the file with its name.
#pragma once

#include <memory>

#include "command.h"

namespace hesscope::cli {

/// hesscope analyze CHECKPOINT... --problem FILE.toml -o OUT.h5
std::unique_ptr<Command> make_analyze_command();

/// hesscope landscape CHECKPOINT... --problem FILE.toml -o OUT.h5 --directions KIND --grid NxM
std::unique_ptr<Command> make_landscape_command();

/// hesscope path FIRST SECOND --problem FILE.toml -o OUT.h5
std::unique_ptr<Command> make_path_command();

/// hesscope train EXPERIMENT.toml -o DIR
std::unique_ptr<Command> make_train_command();

/// hesscope reproduce [EXPERIMENT...] -o DIR
std::unique_ptr<Command> make_reproduce_command();

/// hesscope inspect FILE
std::unique_ptr<Command> make_inspect_command();

/// hesscope convert: a checkpoint or data file in another format.
std::unique_ptr<Command> make_convert_command();

/// `hesscope plot`: a figure of results for a paper.
std::unique_ptr<Command> make_plot_command();

/// hesscope report RESULT... -o FILE.html
std::unique_ptr<Command> make_report_command();

/// hesscope export: a result in the format of other software.
std::unique_ptr<Command> make_export_command();

}  // namespace hesscope::cli
