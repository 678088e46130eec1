// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/eigen.h>

namespace hesscope {

/// Asks the system to back a not yet touched array of doubles by huge pages. This is a hint for
/// matrices far larger than a cache that are written in scattered order: it avoids most of their
/// page faults and TLB misses. Does nothing on systems without this option, and for arrays below a
/// few MiB.
void advise_huge_pages(double* data, Eigen::Index size);

}  // namespace hesscope
