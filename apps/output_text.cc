// SPDX-License-Identifier: BSD-3-Clause
#include "output_text.h"

#include <filesystem>

#include <fmt/format.h>

#include <hesscope/core/shell.h>
#include <hesscope/storage/unit_folder.h>

#include "progress_line.h"

namespace hesscope::cli {

std::string resumption_text(const std::string& kept_in,
                            const std::string& command,
                            const std::string& output,
                            const ForceOption& force) {
  return fmt::format(
      "interrupted; what is finished is kept in '{}', and the same command continues from "
      "there:\n  {} -o {}{}",
      kept_in,
      command,
      shell_word(output),
      force.arguments());
}

std::string_view output_state(const std::string& output, const ForceOption& force, bool is_done) {
  const std::filesystem::path folder = std::filesystem::path(output).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    return "its folder does not exist: a run would fail";
  }
  if (is_done) return "done already: a run would change nothing";
  if (io::has_units(output)) return "begun: a run would continue it";
  const bool may_overwrite = force.overwrite() != io::Overwrite::kNothing;
  if (!may_overwrite && std::filesystem::exists(std::filesystem::symlink_status(output)))
    return "exists: a run would need --force";
  return "not written: dry run";
}

std::string ending_text(const std::string& output, bool is_done_already, double seconds) {
  return is_done_already
             ? fmt::format("done already: {} is what this command makes; --force makes it again\n",
                           output)
             : fmt::format("written to {} in {}\n", output, duration_text(seconds));
}

}  // namespace hesscope::cli
