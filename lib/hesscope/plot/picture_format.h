// SPDX-License-Identifier: BSD-3-Clause
//
// The kinds of files that a figure can be written to.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <hesscope/plot/figure.h>

namespace hesscope::plot {

struct PictureFormat {
  std::string extension;                ///< ".svg"
  std::string kind;                     ///< "an SVG", for messages
  std::vector<std::string> beginnings;  ///< a file of this kind begins with one of these

  /// The bytes of the file; the resolution is that of pictures made of dots.
  /// @throws as to_svg() and to_png().
  std::string (*print)(const Figure& figure, double dots_per_inch);
};

std::span<const PictureFormat> picture_formats();

}  // namespace hesscope::plot
