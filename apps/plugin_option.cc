// SPDX-License-Identifier: BSD-3-Clause
#include "plugin_option.h"

#include <hesscope/models/plugin.h>

namespace hesscope::cli {

Option& PluginOption::declare(OptionTable& options) {
  return options
      .flag("--allow-plugins",
            is_set_,
            "Load the shared library that a problem of kind \"plugin\" names: code that runs with "
            "your rights")
      .unrecorded();
}

void PluginOption::apply() const {
  if (is_set_) allow_plugins();
}

}  // namespace hesscope::cli
