// SPDX-License-Identifier: BSD-3-Clause
//
// Draws the parts of a planned panel.
#pragma once

#include <hesscope/plot/internal/layout.h>

namespace hesscope::plot {

/// Lines behind the data at labelled ticks.
void draw_grid(Canvas& canvas, const Panel& panel, const PanelPlan& plan);

/// Frame, ticks, labels, title and remarks.
void draw_axes(Canvas& canvas, const Panel& panel, const PanelPlan& plan);

void draw_colour_bar(Canvas& canvas, const Panel& panel, const PanelPlan& plan);

/// Draws a series that is a field: heat map, filled contours.
void draw_field(Canvas& canvas, const Panel& panel, const PanelPlan& plan, std::size_t series);

/// Draws a series that is not a field.
void draw_series(Canvas& canvas, const Panel& panel, const PanelPlan& plan, std::size_t series);

/// Whether a series is drawn by draw_field().
bool is_field(const Series& series);

/// The field of a grid on the canvas: its values' places on a scale, NaN if they have none.
struct Field field_of(const Grid& grid, const Axes& axes, const Scale& values);

/// The same with cells too small to be seen, for contours (refined_field.h).
struct Field smooth_field_of(const Grid& grid, const Axes& axes, const Scale& values);

/// The colour of a number.
Colour colour_of(const Panel& panel, const PanelPlan& plan, double value);

/// The colour between two levels, the lower of which is levels[index - 1].
Colour colour_between(const Panel& panel, const PanelPlan& plan, std::size_t index);

}  // namespace hesscope::plot
