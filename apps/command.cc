// SPDX-License-Identifier: BSD-3-Clause
#include "command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hesscope::cli {

ExitCode exit_code_of(const std::exception& error) {
  if (dynamic_cast<const ConfigError*>(&error) != nullptr) return ExitCode::kUsage;
  if (dynamic_cast<const InputError*>(&error) != nullptr) return ExitCode::kBadInput;
  if (dynamic_cast<const LockedError*>(&error) != nullptr) return ExitCode::kLocked;
  return ExitCode::kFailed;
}

std::string Command::cause_of_end() const {
  const std::vector<std::string> lost =
      team_ != nullptr ? team_->lost() : std::vector<std::string>();
  if (lost.empty()) return "interrupted";
  return fmt::format("{} {} died", fmt::join(lost, ", "), lost.size() == 1 ? "has" : "have");
}

}  // namespace hesscope::cli
