// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "works.h"

namespace hesscope::bench {

/// Estimates what the generic engine would need for a problem's Hessian, without computing all of
/// it: some blocks of columns over the first samples on one thread, scaled to all blocks and
/// samples, and divided by the number of threads.
double estimated_generic_seconds(const Problem& problem, int num_threads, InstructionSet set);

}  // namespace hesscope::bench
