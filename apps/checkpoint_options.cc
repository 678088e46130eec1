// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint_options.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <hesscope/core/suggest.h>
#include <hesscope/tensors/format_registry.h>

#include "run_options.h"

namespace hesscope::cli {

void CheckpointOptions::declare_files(OptionTable& options, const std::string& on_checkpoints) {
  options.group("Input");
  options.positionals("CHECKPOINT", paths_, on_checkpoints).required();
  options.text("-p,--problem", problem_, "FILE.toml", "Problem file: model and data").required();
  plugins_.declare(options);
}

void CheckpointOptions::declare_reading(OptionTable& options) {
  options.group("Input");
  options
      .choice("--format",
              format_,
              names_of(io::format_kinds()),
              "Take only files of this format from folders")
      .only_with("a folder of checkpoints", [this] {
        return std::ranges::any_of(paths_, [](const std::string& path) {
          std::error_code none;
          return std::filesystem::is_directory(path, none);
        });
      });
  options.text("--key", key_, "PREFIX", kKeyHelp);
  options.text("--map",
               map_,
               "FILE.toml",
               "Which tensor of the checkpoint is which of the model's, where names differ: lines "
               "\"OUR NAME\" = \"THEIR NAME\" in a table [map]; before it, key = \"model\" takes a "
               "part, as --key does, and ignore = [\"bn.*\"] leaves tensors out. 'hesscope inspect "
               "CHECKPOINT --problem FILE' suggests one");
  options.choice("--order",
                 order_,
                 {"step", "given"},
                 "Order of the checkpoints of each folder (default: step)\n"
                 "step: by global_step, step, iteration or epoch in the files, else by the number "
                 "in their names\ngiven: as they are given here");
  options.text("--step-key",
               step_key_,
               "NAME",
               "Which number in the checkpoints is their step, as in trainer.global_step");
  options
      .repeated("--expect-sha256",
                expected_sha256_,
                "HEX",
                "Refuse a checkpoint whose SHA-256 is another; once for each, in the order given")
      .unrecorded();
  options.reals("--expect-loss",
                expected_losses_,
                "NUMBER",
                "Mean loss that the checkpoint should have: a difference beyond 1e-4 of it is a "
                "warning and exit code 5; once for each, in the order given");
}

void CheckpointOptions::declare_seed(OptionTable& options) {
  options.group("Running");
  options.seed("--seed", seed_, "Seed of all random numbers (default: 0)");
}

CheckpointReading CheckpointOptions::reading() const {
  return {.key = key_,
          .map = map_,
          .expected_sha256 = expected_sha256_,
          .order = order_ == "given" ? CheckpointOrder::kGiven : CheckpointOrder::kByStep,
          .step_key = step_key_,
          .expected_losses = expected_losses_};
}

}  // namespace hesscope::cli
