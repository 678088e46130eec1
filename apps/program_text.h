// SPDX-License-Identifier: BSD-3-Clause
//
// What the program says of itself, in its help text and in its manual page.
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

/// "-h, --help", ...: what may stand in place of a command.
std::span<const Meaning> program_options();

/// The exit codes, see ExitCode; those that mean the same together.
std::span<const Meaning> exit_codes();

/// What hesscope-mpi is, in a line, and in paragraphs.
inline constexpr char kRanksPurpose[] =
    "hesscope whose work on a checkpoint is shared by processes";
std::span<const std::string> ranks_description();

/// Its commands, and what ranks share of each.
std::span<const Meaning> ranks_commands();

/// Complete command lines.
std::span<const std::string> ranks_examples();

}  // namespace hesscope::cli
