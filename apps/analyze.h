// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "command.h"

namespace hesscope::cli {

/// hesscope analyze CHECKPOINT... --problem FILE.toml -o OUT.h5
std::unique_ptr<Command> make_analyze_command();

}  // namespace hesscope::cli
