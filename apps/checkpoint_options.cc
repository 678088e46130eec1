// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint_options.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include <hesscope/core/shell.h>
#include <hesscope/io/format_registry.h>

#include "run_options.h"
#include "standard_streams.h"

namespace hesscope::cli {

void CheckpointOptions::declare(OptionTable& options, const std::string& on_checkpoints) {
  options.group("Input");
  options.positionals("CHECKPOINT", paths, on_checkpoints);
  options.text("--key", key, "PREFIX", kKeyHelp);
  options.text("--map",
               map,
               "FILE.toml",
               "Which tensor of the checkpoint is which of the model's, where names differ: lines "
               "\"OUR NAME\" = \"THEIR NAME\" in a table [map]. 'hesscope inspect CHECKPOINT "
               "--problem FILE' suggests one");
  std::vector<std::string> formats;
  for (const io::Format& each : io::formats()) formats.emplace_back(each.name);
  options.choice("--format", format, formats, "Take only files of this format from folders");
  options.repeated("--expect-sha256",
                   expected_sha256,
                   "HEX",
                   "Refuse a checkpoint whose SHA-256 is another; once for each, in their order");
}

std::vector<CheckpointFile> CheckpointOptions::files() const {
  for (const std::string& path : paths) {
    std::error_code none;
    if (!std::filesystem::is_directory(path, none)) continue;
    for (const std::filesystem::path& file : unnumbered_checkpoints(path)) {
      print_message("hesscope: warning: {}: left out: no whole number follows 'step-'\n",
                    file.string());
    }
  }
  return expand_checkpoints({paths.begin(), paths.end()}, format);
}

CheckpointReading CheckpointOptions::reading() const {
  return {.key = key, .map = map, .expected_sha256 = expected_sha256};
}

std::string CheckpointOptions::arguments() const {
  return fmt::format("{}{}{}",
                     format.empty() ? "" : fmt::format(" --format {}", shell_word(format)),
                     key.empty() ? "" : fmt::format(" --key {}", shell_word(key)),
                     map.empty() ? "" : fmt::format(" --map {}", shell_word(map)));
}

}  // namespace hesscope::cli
