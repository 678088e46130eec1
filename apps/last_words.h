// SPDX-License-Identifier: BSD-3-Clause
//
// A last message for a process that can no longer speak: a child waits for the end of the process,
// for whatever reason, and then prints the message.
#pragma once

#include <string>

namespace hesscope::cli {

/// From now on, if this process ends without take_back_last_words(), for example because it is
/// killed, `text` is written to stderr at once. Forks a child, before MPI begins, which does
/// nothing else and ends with this process. Call it once; it has no effect if the child cannot be
/// started.
/// @param text  whole lines.
void leave_last_words(const std::string& text);

/// Cancels the message: the process has reported itself, or has nothing to report. May be called
/// from any thread, any number of times.
void take_back_last_words() noexcept;

}  // namespace hesscope::cli
