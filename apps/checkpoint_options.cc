// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint_options.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/shell.h>
#include <hesscope/tensors/format_registry.h>

#include "run_options.h"

namespace hesscope::cli {

void CheckpointOptions::declare(OptionTable& options, const std::string& on_checkpoints) {
  options.group("Input");
  options.positionals("CHECKPOINT", paths, on_checkpoints);
  options.text("--key", key, "PREFIX", kKeyHelp);
  options.text("--map",
               map,
               "FILE.toml",
               "Which tensor of the checkpoint is which of the model's, where names differ: lines "
               "\"OUR NAME\" = \"THEIR NAME\" in a table [map]; before it, key = \"model\" takes a "
               "part, as --key does, and ignore = [\"bn.*\"] leaves tensors out. 'hesscope inspect "
               "CHECKPOINT --problem FILE' suggests one");
  std::vector<std::string> formats;
  for (const io::FormatKind& each : io::format_kinds()) formats.emplace_back(each.name);
  options.choice("--format", format, formats, "Take only files of this format from folders");
  options.choice("--order",
                 order,
                 {"step", "given"},
                 "Order of the checkpoints of each folder (default: step)\n"
                 "step: by global_step, step, iteration or epoch in the files, else by the number "
                 "in their names\ngiven: as they are given here");
  options.text("--step-key",
               step_key,
               "NAME",
               "Which number in the checkpoints is their step, as in trainer.global_step");
  options.repeated(
      "--expect-sha256",
      expected_sha256,
      "HEX",
      "Refuse a checkpoint whose SHA-256 is another; once for each, in the order given");
  options.repeated("--expect-loss",
                   expected_losses,
                   "NUMBER",
                   "Mean loss that the checkpoint should have: a difference beyond 1e-4 of it is a "
                   "warning and exit code 5; once for each, in the order given");
}

std::vector<CheckpointFile> CheckpointOptions::files(std::vector<std::string>& remarks) const {
  return expand_checkpoints({paths.begin(), paths.end()}, format, &remarks);
}

namespace {

std::vector<double> numbers(const std::string& option, const std::vector<std::string>& texts) {
  std::vector<double> values;
  for (const std::string& text : texts) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
      throw ConfigError(fmt::format("{}: '{}' is no finite number", option, text));
    }
    values.push_back(value);
  }
  return values;
}

}  // namespace

CheckpointReading CheckpointOptions::reading() const {
  return {.key = key,
          .map = map,
          .expected_sha256 = expected_sha256,
          .order = order == "given" ? CheckpointOrder::kGiven : CheckpointOrder::kByStep,
          .step_key = step_key,
          .expected_losses = numbers("--expect-loss", expected_losses)};
}

std::string CheckpointOptions::arguments() const {
  std::string losses;
  for (const std::string& loss : expected_losses) losses += " --expect-loss " + shell_word(loss);
  return fmt::format("{}{}{}{}{}{}",
                     format.empty() ? "" : fmt::format(" --format {}", shell_word(format)),
                     key.empty() ? "" : fmt::format(" --key {}", shell_word(key)),
                     map.empty() ? "" : fmt::format(" --map {}", shell_word(map)),
                     order == "step" ? "" : fmt::format(" --order {}", order),
                     step_key.empty() ? "" : fmt::format(" --step-key {}", shell_word(step_key)),
                     losses);
}

}  // namespace hesscope::cli
