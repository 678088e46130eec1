// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/plot/figure.h>

namespace hesscope::figures {

/// Merges lines with the same label and the same positions, as runs of one experiment from several
/// seeds: a line at their medians, in a band from the smallest to the largest. If one of them has
/// no number at a position, the line has a gap there. The panel's note gives the number of seeds,
/// and says if lines with the same label were not merged because some of their positions differ.
void merge_seeds(plot::Panel& panel);

}  // namespace hesscope::figures
