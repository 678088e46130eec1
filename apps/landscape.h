// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "command.h"

namespace hesscope::cli {

/// hesscope landscape CHECKPOINT... --problem FILE.toml -o OUT.h5 --directions KIND --grid NxM
std::unique_ptr<Command> make_landscape_command();

}  // namespace hesscope::cli
