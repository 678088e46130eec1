// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/eigen.h>

namespace hesscope {

/// Asks the system to back an array of doubles that is not yet touched by huge pages. A hint, for
/// matrices far larger than a cache that are written in scattered order: it saves most of their
/// page faults and TLB misses. Does nothing where there is no such choice, and for arrays below a
/// few MiB.
void advise_huge_pages(double* data, Eigen::Index size);

}  // namespace hesscope
