// SPDX-License-Identifier: BSD-3-Clause
#include "run_options.h"

#include <array>
#include <string_view>
#include <utility>

namespace hesscope::cli {

void ForceOption::declare(OptionTable& options, const std::string& on_force) {
  options.counted_flag(
      "--force", count_, on_force + "; given twice, also a file that this program did not make");
}

io::Overwrite ForceOption::overwrite() const {
  if (count_ == 0) return io::Overwrite::kNothing;
  return count_ == 1 ? io::Overwrite::kOwnKind : io::Overwrite::kAnything;
}

std::string ForceOption::arguments() const {
  if (count_ == 0) return "";
  return count_ == 1 ? " --force" : " --force --force";
}

void RunOptions::declare(OptionTable& options,
                         const std::string& on_force,
                         const std::string& on_dry_run) {
  options.group("Output");
  force.declare(options, on_force);
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

std::string with_flags(std::string message) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kFlags = {{
      {"`order`", "--order"},
      {"`step_key`", "--step-key"},
      {"`expected_losses`", "--expect-loss"},
  }};
  for (const auto& [member, flag] : kFlags) {
    for (std::size_t at = message.find(member); at != std::string::npos;
         at = message.find(member, at + flag.size())) {
      message.replace(at, member.size(), flag);
    }
  }
  return message;
}

std::vector<std::string> with_flags(std::vector<std::string> messages) {
  for (std::string& message : messages) message = with_flags(std::move(message));
  return messages;
}

}  // namespace hesscope::cli
