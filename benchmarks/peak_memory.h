// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

namespace hesscope::bench {

/// By how many bytes the peak resident memory during `body` exceeds the resident memory before it;
/// NaN if the system does not report it (Linux does). Memory that was freed earlier, but not
/// returned to the system, hides as much of the peak: call it in a fresh process.
double peak_memory_over_baseline(const std::function<void()>& body);

}  // namespace hesscope::bench
