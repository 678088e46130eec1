// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <hesscope/storage/part.h>

#include "command.h"

namespace hesscope::cli {

/// --part and --merge-only: how a run is divided among processes.
class PartOption {
 public:
  void declare(OptionTable& options);

  /// What was given. Refuses to be one of several tasks that mpirun or srun have started, each of
  /// which would do the same, unless they share the work. @throws ConfigError; also for both
  /// options together.
  io::Share share(bool shares_tasks) const;

  /// OUTPUT, or where the part keeps what is finished.
  std::string place(const std::string& output) const;

  /// " --part I/N", or nothing where it was not given.
  std::string arguments() const;

  /// "I/N", or nothing.
  std::string text() const { return share_.part ? share_.part->text() : std::string(); }

  bool merges_only() const { return share_.merge_only; }

  /// That for parts of a merge that are missing: " --part I/N with I = 0, 3".
  static std::string arguments(const std::vector<io::Part>& parts);

 private:
  void refuse_many_tasks() const;

  std::string given_;
  io::Share share_;
};

}  // namespace hesscope::cli
