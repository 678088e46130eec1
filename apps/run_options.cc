// SPDX-License-Identifier: BSD-3-Clause
#include "run_options.h"

namespace hesscope::cli {

void ForceOption::declare(OptionTable& options, const std::string& on_force) {
  options
      .counted_flag(
          "--force", count_, on_force + "; given twice, also a file that this program did not make")
      .unrecorded();
}

io::Overwrite ForceOption::overwrite() const {
  if (count_ == 0) return io::Overwrite::kNothing;
  return count_ == 1 ? io::Overwrite::kOwnKind : io::Overwrite::kAnything;
}

std::string ForceOption::arguments() const {
  if (count_ == 0) return "";
  return count_ == 1 ? " --force" : " --force --force";
}

}  // namespace hesscope::cli
