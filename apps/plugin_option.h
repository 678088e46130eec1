// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "option_table.h"

namespace hesscope::cli {

/// --allow-plugins, for every command that takes a problem or an experiment.
class PluginOption {
 public:
  Option& declare(OptionTable& options);

  /// Lets the process load plug-ins if the user allows it. To be called before anything makes a
  /// model.
  void apply() const;

 private:
  bool is_set_ = false;
};

}  // namespace hesscope::cli
