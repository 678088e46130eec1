// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <hesscope/plot/figure.h>

namespace hesscope::plot {

/// The figure as a self-contained SVG document of figure.width x figure.height points: no scripts,
/// no external fonts or images, and no ids, so that several fit into one page. The same figure
/// gives the same bytes. Each plot is a group with data- attributes for its axes (data-x-scale,
/// data-x-lower, data-left, data-width, ...), by which drawn coordinates, which are rounded to
/// 0.01, can be converted back into numbers. They are in points before the magnification.
/// @throws PreconditionError naming panel and series if the parts of a series do not fit together
///         (x and y of different lengths, a grid of the wrong size, ...), an axis has lower >=
///         upper, or the magnification is not a positive number; ConfigError if the figure has no
///         room for its panels.
/// @cost   linear in the number of values.
std::string to_svg(const Figure& figure);

}  // namespace hesscope::plot
