// SPDX-License-Identifier: BSD-3-Clause
#include "output_text.h"

#include <filesystem>

#include <fmt/format.h>

#include <hesscope/core/shell.h>
#include <hesscope/io/unit_folder.h>

namespace hesscope::cli {

std::string resumption_text(const std::string& kept_in,
                            const std::string& command,
                            const std::string& output,
                            bool force) {
  return fmt::format(
      "interrupted; what is finished is kept in '{}', and the same command goes on from "
      "there:\n  {} -o {}{}",
      kept_in,
      command,
      shell_word(output),
      force ? " --force" : "");
}

std::string_view output_state(const std::string& output, bool force) {
  const std::filesystem::path folder = std::filesystem::path(output).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    return "its folder does not exist: a run would fail";
  }
  if (io::has_units(output)) return "begun: a run would go on with it";
  if (!force && std::filesystem::exists(std::filesystem::symlink_status(output)))
    return "exists: a run would need --force";
  return "not written: dry run";
}

}  // namespace hesscope::cli
