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

  /// The given share. Refuses to run as one of several tasks of mpirun or srun that would all do
  /// the same, unless they share the work. @throws ConfigError; also if both options are given.
  io::Share share(bool shares_tasks) const;

  /// OUTPUT, or the place where the part keeps finished work.
  std::string place(const std::string& output) const;

  /// " --part I/N", or "" if it was not given.
  std::string arguments() const;

  /// "I/N", or "".
  std::string text() const { return share_.part ? share_.part->text() : std::string(); }

  bool merges_only() const { return share_.merge_only; }

  /// Arguments for the missing parts of a merge: " --part I/N with I = 0, 3".
  static std::string arguments(const std::vector<io::Part>& parts);

 private:
  void refuse_many_tasks() const;

  std::string given_;
  io::Share share_;
};

}  // namespace hesscope::cli
