// SPDX-License-Identifier: BSD-3-Clause
//
// What a process has to say that cannot speak any more: a child of it waits for its end, however it
// comes, and says it then.
#pragma once

#include <string>

namespace hesscope::cli {

/// From now on, if this process ends without take_back_last_words(), killed for instance, `text` is
/// written to stderr at once. Forks a child, before MPI begins, that does nothing else and ends
/// with this process. Once; without effect where there is no room for a child.
/// @param text  whole lines.
void leave_last_words(const std::string& text);

/// This process has spoken for itself, or has nothing to say. From any thread, any number of times.
void take_back_last_words() noexcept;

}  // namespace hesscope::cli
