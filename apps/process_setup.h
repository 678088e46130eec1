// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace hesscope::cli {

/// To be called first: gives the program and its threads the stack that they need, if the limits
/// allow it. @returns false, after a message, if they do not.
bool widen_stack();

/// Lets the C library keep freed memory for later allocations, unless the environment sets how
/// much. Matrices at one point are as large as those at the previous point, and taking them from
/// the system again would mean clearing each page. Blocks of 32 MiB and more are returned at once.
void keep_freed_memory();

/// From now on, an instruction that the processor does not have ends the program with a message.
/// OpenBLAS uses the instructions of the processor in OPENBLAS_CORETYPE, whatever the actual
/// processor is.
void report_missing_instructions();

}  // namespace hesscope::cli
