// SPDX-License-Identifier: BSD-3-Clause
#include "run_options.h"

namespace hesscope::cli {

void RunOptions::declare(OptionTable& options,
                         const std::string& on_force,
                         const std::string& on_dry_run) {
  options.integer(
      "--threads", threads, 0, 4096, "Threads; 0 = one per core. Never changes a result");
  options.flag("--force", force, on_force);
  options.flag("--dry-run", dry_run, on_dry_run);
  options.flag("--json", json, "Print one JSON document on stdout");
  options.flag("-q,--quiet", quiet, "No progress and no summary");
}

}  // namespace hesscope::cli
