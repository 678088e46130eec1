// SPDX-License-Identifier: BSD-3-Clause
//
// Figures as PDF and PNG, by librsvg and cairo from the drawing that to_svg() makes. Both libraries
// are loaded when the first figure is printed: a program that prints none does without them.
#pragma once

#include <string>

#include <hesscope/plot/figure.h>

namespace hesscope::plot {

inline constexpr double kLeastDotsPerInch = 10;
inline constexpr double kMostDotsPerInch = 2400;

/// Whether this build can, given the libraries.
bool can_print();

/// The figure as a PDF document of one page of its size. Text is text, in fonts that the document
/// brings along: the first of Helvetica, Arial, Liberation Sans and DejaVu Sans that there is. The
/// same figure gives the same bytes with the same fonts and versions of the libraries.
/// @throws PreconditionError as to_svg(); OutputError where the libraries are missing, with what to
///         install, or say that they failed.
std::string to_pdf(const Figure& figure);

/// The figure as a PNG file, on white, which tells its size in metres to those who ask for it.
/// @param  dots_per_inch  from kLeastDotsPerInch to kMostDotsPerInch.
/// @throws as to_pdf(); PreconditionError for another resolution; ConfigError where the picture
///         would have more than 32,767 pixels on a side or 200 million in all.
std::string to_png(const Figure& figure, double dots_per_inch = 300);

}  // namespace hesscope::plot
