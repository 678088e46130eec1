// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <hesscope/storage/overwrite.h>

#include "command.h"

namespace hesscope::cli {

/// Help of the option --key, for commands that read checkpoints.
inline constexpr const char* kKeyHelp =
    "Take only the tensors whose names begin so, as in model_state_dict: the part of a training "
    "checkpoint that holds the weights";

/// --force: once for files of this program, twice for anything.
class ForceOption {
 public:
  /// @param on_force  what it does if given once, for the help.
  Option& declare(OptionTable& options, const std::string& on_force);

  io::Overwrite overwrite() const;

  /// As it was given, after a space; empty if it was not given.
  std::string arguments() const;

 private:
  int count_ = 0;
};

/// An output never replaces an input of the command, even with --force.
/// @param what  the conflicting input, for the message: "the input itself".
/// @throws UsageError if it is one of the inputs.
void require_apart(const std::string& output,
                   const std::vector<std::filesystem::path>& inputs,
                   const std::string& what);

}  // namespace hesscope::cli
