// SPDX-License-Identifier: BSD-3-Clause
#include "run_options.h"

#include <system_error>

#include <fmt/format.h>

namespace hesscope::cli {

Option& ForceOption::declare(OptionTable& options, const std::string& on_force) {
  return options
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

void require_apart(const std::string& output,
                   const std::vector<std::filesystem::path>& inputs,
                   const std::string& what) {
  for (const std::filesystem::path& input : inputs) {
    std::error_code none;  // an output that does not exist yet is not an input
    if (!std::filesystem::equivalent(input, output, none)) continue;
    throw UsageError(fmt::format("{}: the output is {}; name another", output, what));
  }
}

}  // namespace hesscope::cli
