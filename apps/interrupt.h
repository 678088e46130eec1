// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace hesscope::cli {

/// From now on SIGINT, SIGTERM and, unless it is ignored, SIGHUP are noted instead of ending the
/// program; a second one ends it at once.
void catch_interrupts();

/// A limit on the size of files is an error of the write that meets it, not the end of the program.
void ignore_size_limit_signal();

/// The signal noted, or 0.
int caught_signal();

}  // namespace hesscope::cli
