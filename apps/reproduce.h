// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "command.h"

namespace hesscope::cli {

/// hesscope reproduce [EXPERIMENT...] -o DIR
std::unique_ptr<Command> make_reproduce_command();

}  // namespace hesscope::cli
