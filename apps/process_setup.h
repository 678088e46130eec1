// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace hesscope::cli {

/// To be called first: gives the program and its threads the stack they need, as far as the limits
/// allow. @returns false, and says so, where they allow less than that.
bool widen_stack();

/// Lets the C library keep memory that was freed, for what is allocated next, where the environment
/// does not set how much: matrices of one point are as large as those of the point before, and to
/// take them from the system anew is to have each page cleared. Blocks of 32 MiB and more go back
/// at once.
void keep_freed_memory();

/// From now on an instruction that the processor does not have ends the program with a message.
/// OpenBLAS takes those of the processor that OPENBLAS_CORETYPE names, whatever the real one is.
void report_missing_instructions();

}  // namespace hesscope::cli
