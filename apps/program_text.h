// SPDX-License-Identifier: BSD-3-Clause
//
// Texts about the program, for its help and its manual page.
#pragma once

#include <span>
#include <string>

namespace hesscope::cli {

inline constexpr char kPurpose[] = "Exact Hessians and loss landscapes of small models";

/// A term and what it means.
struct Meaning {
  std::string term;
  std::string text;
};

/// "-h, --help", ...: what may be given instead of a command.
std::span<const Meaning> program_options();

/// The exit codes, see ExitCode; those with the same meaning together.
std::span<const Meaning> exit_codes();

/// What hesscope-mpi is, in one line and in paragraphs.
inline constexpr char kRanksPurpose[] =
    "hesscope whose work on a checkpoint is shared by processes";
std::span<const std::string> ranks_description();

/// Its commands, and what the ranks share in each.
std::span<const Meaning> ranks_commands();

/// Complete command lines.
std::span<const std::string> ranks_examples();

}  // namespace hesscope::cli
