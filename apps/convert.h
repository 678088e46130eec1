// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "command.h"

namespace hesscope::cli {

/// hesscope convert: a checkpoint or data file in another format.
std::unique_ptr<Command> make_convert_command();

}  // namespace hesscope::cli
