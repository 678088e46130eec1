// SPDX-License-Identifier: BSD-3-Clause
//
// Figures as PDF and PNG, converted by librsvg and cairo from the drawing of to_svg(). Both
// libraries are loaded when the first figure is printed; programs that print none do not need them.
#pragma once

#include <string>

#include <hesscope/plot/figure.h>

namespace hesscope::plot {

inline constexpr double kLeastDotsPerInch = 10;
inline constexpr double kMostDotsPerInch = 2400;
inline constexpr double kUsualDotsPerInch = 300;

/// Whether this build can print, given the libraries.
bool can_print();

/// The figure as a one-page PDF document of the figure's size. Text stays text, in an embedded
/// font: the first available of Helvetica, Arial, Liberation Sans and DejaVu Sans. The same figure
/// gives the same bytes with the same fonts and versions of the libraries.
/// @throws PreconditionError as to_svg(); OutputError if the libraries are missing, with what to
///         install, or report a failure.
std::string to_pdf(const Figure& figure);

/// The figure as a PNG file on white; the file also records the physical size in metres.
/// @param  dots_per_inch  from kLeastDotsPerInch to kMostDotsPerInch.
/// @throws as to_pdf(); PreconditionError for another resolution; ConfigError if the picture would
///         have more than 32,767 pixels on a side or 200 million in total.
std::string to_png(const Figure& figure, double dots_per_inch = kUsualDotsPerInch);

}  // namespace hesscope::plot
