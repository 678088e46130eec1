// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace hesscope {

/// The memory that this process can have at most: that of the machine with its swap space, or less
/// where the system limits the process (control group, RLIMIT_AS). Bytes; what others use of it is
/// not deducted.
double memory_limit_bytes();

/// The memory that this process and others of the machine, or of the control group, can take
/// together now without swapping: MemAvailable, or what the group's limit leaves. Bytes. Where the
/// system does not say, what they can have at most.
double free_memory_bytes();

/// To be called before memory is taken for a purpose whose size somebody asked for.
/// @param what  what needs it, with the place that asked for it: the beginning of the message.
/// @throws OutputError naming both sizes if `bytes` are more than memory_limit_bytes().
void require_memory(double bytes, const std::string& what);

/// Bytes of addresses that this process may use at most (RLIMIT_AS, `ulimit -v`); infinity where
/// that is not limited.
double address_space_limit_bytes();

}  // namespace hesscope
