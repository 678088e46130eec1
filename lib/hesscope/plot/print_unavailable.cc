// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces print.cc if the headers of librsvg are missing.
#include <hesscope/core/error.h>
#include <hesscope/plot/print.h>

namespace hesscope::plot {
namespace {

[[noreturn]] void refuse_to_print() {
  throw OutputError(
      "this hesscope was built without PDF and PNG: with librsvg2-dev installed, a new build has "
      "them; rsvg-convert and inkscape turn SVG into both");
}

}  // namespace

bool can_print() { return false; }

std::string to_pdf(const Figure& /*figure*/) { refuse_to_print(); }

std::string to_png(const Figure& /*figure*/, double /*dots_per_inch*/) { refuse_to_print(); }

}  // namespace hesscope::plot
