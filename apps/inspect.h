// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "command.h"

namespace hesscope::cli {

/// hesscope inspect FILE
std::unique_ptr<Command> make_inspect_command();

}  // namespace hesscope::cli
