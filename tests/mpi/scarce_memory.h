// SPDX-License-Identifier: BSD-3-Clause
//
// Memory that one allocation does not get, of a program linked with --wrap=malloc,--wrap=calloc.
// Those of libraries that come as shared objects, as MPI, are left alone.
#pragma once

namespace hesscope::test {

/// Of the allocations of 512 bytes or more, from now on and from 1, the one that fails; 0 = none,
/// as again after it has failed.
extern long allocation_that_fails;

}  // namespace hesscope::test
