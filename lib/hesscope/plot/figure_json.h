// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/json.h>
#include <hesscope/plot/figure.h>

namespace hesscope::plot {

/// The figure for a program that draws it elsewhere, as a page does: what figure.h says, with
/// everything decided that to_svg() decides by the numbers (ranges, thresholds, colours, levels,
/// remarks), so that both drawings show the same.
///
///   {title, description, columns, panels: [{
///      title, note, square, legend: "none", empty,
///      x, y: {label, scale: "linear" | "log" | "signed-log", lower, upper, threshold,
///             ticks: [[value, label], ...], reversed, whole_numbers},
///      colour_bar: {label, scale, lower, upper, threshold, ticks, colours: [...], levels},
///      series: [{kind: "line" | "band" | ..., label, colour, ...}],
///      table: [[text, ...], ...]}]}
///
/// Members that say nothing are left out. Lists of numbers are {"f64": base64 of little-endian
/// doubles}, exact and with their NaN. Colours are "#rrggbb", or "ink", "grey" and "paper", which
/// follow the page's.
/// @throws PreconditionError as to_svg().
Json to_json(const Figure& figure);

}  // namespace hesscope::plot
