// SPDX-License-Identifier: BSD-3-Clause
//
// Makes one memory allocation fail, in a program linked with --wrap=malloc,--wrap=calloc.
// Allocations of shared libraries, such as MPI, are not affected.
#pragma once

namespace hesscope::test {

/// Which allocation of 512 bytes or more fails, counted from 1 from now on; 0 = none, which it
/// becomes after the failure.
extern long allocation_that_fails;

}  // namespace hesscope::test
