// SPDX-License-Identifier: BSD-3-Clause
//
// Names of series, beside their lines or in a list.
#pragma once

#include <vector>

#include <hesscope/plot/internal/layout.h>

namespace hesscope::plot {

/// Entries of the series that have a label. Series without a drawable value say so.
std::vector<LegendEntry> legend_entries(const Panel& panel, const Axes& axes);

/// What an entry wants right of the plot.
double room_beside(const Panel& panel, const LegendEntry& entry);

/// Sets wanted_y of direct entries from where their lines end, once the plot has its place.
void place_direct(const Panel& panel, PanelPlan& plan);

void draw_legend(Canvas& canvas, const Panel& panel, const PanelPlan& plan);

}  // namespace hesscope::plot
