// SPDX-License-Identifier: BSD-3-Clause
//
// The work of an isolated file's child process.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <hesscope/isolation/internal/child_process.h>
#include <hesscope/isolation/internal/isolated_file.h>
#include <hesscope/isolation/internal/isolated_protocol.h>

namespace hesscope::io::isolated {

/// If a foreign thread was inside HDF5 at the fork, this waits forever: the parent receives nothing
/// and tries again. @returns false if the parent is gone.
bool report_ready(MessageSocket& socket);

/// The main loop of a child that reads a file.
void serve(MessageSocket& socket,
           const SharedBlocks& blocks,
           const std::string& path,
           const ReadLimits& limits,
           const OpenServer& open);

/// The main function of a child that answers a question by kYes or kNo.
void answer(MessageSocket& socket, const ReadLimits& limits, const std::function<bool()>& question);

}  // namespace hesscope::io::isolated
