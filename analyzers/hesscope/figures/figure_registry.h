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

/// @throws ConfigError naming the nearest known figure if there is none of this name.
const FigureKind& find_figure_kind(const std::string& name);

/// Whether the result holds what the figure needs.
bool can_draw(const FigureKind& kind, const io::ResultReader& result);

/// The quantities of the figure that it has the data for; of a figure without any that it can draw,
/// one without a name.
std::vector<std::string> drawable_quantities(const FigureKind& kind,
                                             const io::ResultReader& result);

/// Names of the figures that a result has the data for.
std::vector<std::string> drawable_figures(const io::ResultReader& result);

/// The figure, its title, size and scales as requested.
/// @param  sources  at least one. Lines of sources of the same label are taken for runs of one
///                  experiment from several seeds: their median, in a band of their range.
/// @throws InputError naming file and variable if a result lacks what the figure needs, with the
///         command that stores it and the figures that the file has data for; ConfigError if the
///         request does not suit the figure; PreconditionError without sources.
plot::Figure draw_figure(const FigureKind& kind,
                         std::span<const Source> sources,
                         const FigureRequest& request);

/// Whether all numbers that these results lack of what the figure needs cannot be, rather than
/// failed or were not computed (is_conclusive()): a figure without any number is then as it should
/// be.
/// @throws InputError as reading does.
bool lacks_undefined_alone(const FigureKind& kind, std::span<const Source> sources);

}  // namespace hesscope::figures
