// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "command.h"

namespace hesscope::cli {

/// hesscope train EXPERIMENT.toml -o DIR
std::unique_ptr<Command> make_train_command();

}  // namespace hesscope::cli
