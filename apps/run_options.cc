// SPDX-License-Identifier: BSD-3-Clause
#include "run_options.h"

namespace hesscope::cli {

void RunOptions::declare(OptionTable& options,
                         const std::string& on_force,
                         const std::string& on_dry_run) {
  options.group("Output");
  options.flag("--force", force, on_force);
  options.flag("--json", json, "Print one JSON document on stdout instead of tables");
  options.flag("-q,--quiet", quiet, "Print neither progress nor a summary");
  options.group("Running");
  options.flag("--dry-run", dry_run, on_dry_run);
  options.integer("--threads",
                  threads,
                  0,
                  4096,
                  "How many threads to use; 0 = one per core. Results do not depend on it");
}

}  // namespace hesscope::cli
