// SPDX-License-Identifier: BSD-3-Clause
#include "command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hesscope::cli {

std::string Command::cause_of_end() const {
  const std::vector<std::string> lost =
      team_ != nullptr ? team_->lost() : std::vector<std::string>();
  if (lost.empty()) return "interrupted";
  return fmt::format("{} {} died", fmt::join(lost, ", "), lost.size() == 1 ? "has" : "have");
}

}  // namespace hesscope::cli
