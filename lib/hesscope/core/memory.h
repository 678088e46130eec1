// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace hesscope {

/// The most memory in bytes that this process can have: the machine's memory plus swap space, or
/// less if the system limits the process (control group, RLIMIT_AS). Memory used by others is not
/// deducted.
double memory_limit_bytes();

/// The memory in bytes that this process and the others on the machine, or in the control group,
/// can take in total now without swapping: MemAvailable, or what is left of the group's limit. If
/// the system does not report it, the most they can have.
double free_memory_bytes();

/// To be called before allocating memory whose size a user has chosen.
/// @param what  what needs the memory, and where it was requested: the beginning of the message.
/// @throws OutputError naming both sizes if `bytes` are more than memory_limit_bytes().
void require_memory(double bytes, const std::string& what);

/// The most bytes of address space that this process may use (RLIMIT_AS, `ulimit -v`); infinity if
/// that is not limited.
double address_space_limit_bytes();

}  // namespace hesscope
