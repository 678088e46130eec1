// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "command.h"

namespace hesscope::cli {

/// hesscope export: a result in the format of other software.
std::unique_ptr<Command> make_export_command();

}  // namespace hesscope::cli
