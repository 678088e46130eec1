// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/plot/figure.h>

namespace hesscope::figures {

/// Puts lines of one label at the same places together, as runs of one experiment from several
/// seeds: a line at their medians, in a band from the smallest to the largest. Where one of them
/// has no number the line has a gap. The panel's note says of how many seeds, and where lines of
/// one label are left apart since some of their places differ.
void merge_seeds(plot::Panel& panel);

}  // namespace hesscope::figures
