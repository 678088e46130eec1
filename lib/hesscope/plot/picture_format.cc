// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/plot/picture_format.h>
#include <hesscope/plot/print.h>
#include <hesscope/plot/svg.h>

namespace hesscope::plot {

std::span<const PictureFormat> picture_formats() {
  static const std::vector<PictureFormat> all = {
      {".svg",
       "an SVG",
       {"<svg", "<?xml"},
       [](const Figure& figure, double /*dots_per_inch*/) { return to_svg(figure); }},
      {".pdf",
       "a PDF",
       {"%PDF-"},
       [](const Figure& figure, double /*dots_per_inch*/) { return to_pdf(figure); }},
      {".png", "a PNG", {"\x89PNG\r\n\x1a\n"}, &to_png}};
  return all;
}

}  // namespace hesscope::plot
