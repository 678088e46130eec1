// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "command.h"

namespace hesscope::cli {

/// Writes hesscope(1) and a page for each command into DIR/man/man1, and completions for bash, zsh
/// and fish where these look for them below DIR, such as /usr/share or ~/.local/share. Replaces
/// existing files.
/// @param commands    whose options are declared.
/// @param with_ranks  also write hesscope-mpi(1).
/// @returns the written files.
/// @throws OutputError
std::vector<std::filesystem::path> write_manual(
    const std::filesystem::path& folder,
    const std::vector<std::unique_ptr<Command>>& commands,
    bool with_ranks);

}  // namespace hesscope::cli
