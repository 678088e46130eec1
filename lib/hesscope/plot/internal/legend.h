// SPDX-License-Identifier: BSD-3-Clause
//
// Names of series, next to their lines or in a list.
#pragma once

#include <vector>

#include <hesscope/plot/internal/layout.h>

namespace hesscope::plot {

/// Entries for the series that have a label. Series without a drawable value are marked as such.
std::vector<LegendEntry> legend_entries(const Panel& panel, const Axes& axes);

/// The space that an entry needs to the right of the plot.
double room_beside(const Panel& panel, const LegendEntry& entry);

/// The space there for the line that says how many entries have no room; 0 if all have in a plot of
/// this height.
double room_for_rest(const Panel& panel, const PanelPlan& plan, double height);

/// Sets wanted_y of direct entries from where their lines end, once the plot's position is known.
void place_direct(const Panel& panel, PanelPlan& plan);

void draw_legend(Canvas& canvas, const Panel& panel, const PanelPlan& plan);

}  // namespace hesscope::plot
