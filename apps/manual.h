// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "command.h"

namespace hesscope::cli {

/// Writes hesscope(1) and a page for each command into DIR/man/man1, and completion for bash, zsh
/// and fish to where their packages look for it below DIR, as /usr/share or ~/.local/share. Files
/// that are there already are replaced.
/// @param commands    with their options declared.
/// @param with_ranks  hesscope-mpi(1), too.
/// @returns the files.
/// @throws OutputError
std::vector<std::filesystem::path> write_manual(
    const std::filesystem::path& folder,
    const std::vector<std::unique_ptr<Command>>& commands,
    bool with_ranks);

}  // namespace hesscope::cli
