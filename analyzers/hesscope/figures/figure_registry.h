// SPDX-License-Identifier: BSD-3-Clause
//
// The one list of figures.
//
//   io::ResultReader result("out.h5");
//   const figures::FigureKind& kind = figures::find_figure_kind("condition");
//   std::string svg = plot::to_svg(figures::draw_figure(kind, std::array{figures::Source{&result,
//   "SGDM"}}, {}));
#pragma once

#include <span>
#include <string>
#include <vector>

#include <hesscope/figures/figure_kind.h>

namespace hesscope::figures {

std::span<const FigureKind> figure_kinds();

/// @throws ConfigError with the nearest known figure if there is none of this name.
const FigureKind& find_figure_kind(const std::string& name);

/// Whether the result holds what the figure needs.
bool can_draw(const FigureKind& kind, const io::ResultReader& result);

/// The quantities of the figure that the result has the data for. For a figure that has no
/// quantities to choose from and can be drawn, one empty name; empty if it cannot be drawn.
std::vector<std::string> drawable_quantities(const FigureKind& kind,
                                             const io::ResultReader& result);

/// Names of the figures that a result has the data for.
std::vector<std::string> drawable_figures(const io::ResultReader& result);

/// The figure, with title, size and scales as requested.
/// @param  sources  at least one. Lines of sources with the same label count as runs of one
///                  experiment from several seeds: their median is drawn, in the band of their
///                  range.
/// @throws InputError naming file and variable if a result lacks what the figure needs, with the
///         command that stores it and the figures that the file has data for; ConfigError if the
///         request does not suit the figure; PreconditionError without sources.
plot::Figure draw_figure(const FigureKind& kind,
                         std::span<const Source> sources,
                         const FigureRequest& request);

/// Whether all numbers that the figure needs and these results lack cannot exist, as opposed to
/// numbers that failed or were not computed (is_conclusive()). A figure without any number is then
/// correct.
/// @throws InputError as reading does.
bool lacks_undefined_alone(const FigureKind& kind, std::span<const Source> sources);

}  // namespace hesscope::figures
