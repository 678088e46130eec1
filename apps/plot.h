// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "command.h"

namespace hesscope::cli {

/// `hesscope plot`: a figure of results for a paper.
std::unique_ptr<Command> make_plot_command();

}  // namespace hesscope::cli
