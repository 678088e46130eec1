// SPDX-License-Identifier: BSD-3-Clause
//
// A build without librsvg uses print_unavailable.cc instead.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>
#include <zlib.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/version.h>
#include <hesscope/plot/internal/rsvg.h>
#include <hesscope/plot/markup.h>
#include <hesscope/plot/print.h>
#include <hesscope/plot/svg.h>

namespace hesscope::plot {
namespace {

constexpr double kPointsPerInch = 72;
constexpr double kMetresPerInch = 0.0254;
constexpr double kMostPixels = 32'767;  // per side, as in cairo
constexpr double kMostPixelsInAll = 200e6;

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(static_cast<unsigned char>(number >> shift & 0xffU));
  }
  return bytes;
}

// The PNG chunk with the size of a pixel, which typesetting programs use.
std::string resolution_chunk(double dots_per_inch) {
  const auto per_metre = static_cast<std::uint32_t>(std::lround(dots_per_inch / kMetresPerInch));
  const std::string content =
      "pHYs" + big_endian(per_metre) + big_endian(per_metre) + std::string(1, '\1');
  const uLong sum =
      crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
  return big_endian(static_cast<std::uint32_t>(content.size() - 4)) + content +
         big_endian(static_cast<std::uint32_t>(sum));
}

}  // namespace

bool can_print() { return true; }

std::string to_pdf(const Figure& figure) {
  const RsvgDocument document(to_svg(figure));
  std::string bytes;
  const Surface surface = owned(rsvg().cairo_pdf_surface_create_for_stream(
      append, &bytes, document.width(), document.height()));
  const auto describe = [&](cairo_pdf_metadata_t what, const std::string& text) {
    rsvg().cairo_pdf_surface_set_metadata(surface.get(), what, text.c_str());
  };
  describe(CAIRO_PDF_METADATA_CREATE_DATE, "");  // none: same bytes on any date
  describe(CAIRO_PDF_METADATA_CREATOR, fmt::format("hesscope {}", kVersion));
  const std::string& title = figure.title.empty() ? figure.panels.front().title : figure.title;
  if (!title.empty()) describe(CAIRO_PDF_METADATA_TITLE, printable(without_markup(title)));
  if (!figure.description.empty()) {
    describe(CAIRO_PDF_METADATA_SUBJECT, printable(without_markup(figure.description)));
  }
  document.draw(surface.get(), document.width(), document.height());
  rsvg().cairo_surface_finish(surface.get());  // writes the rest
  require_success(rsvg().cairo_surface_status(surface.get()));
  return bytes;
}

std::string to_png(const Figure& figure, double dots_per_inch) {
  if (!(dots_per_inch >= kLeastDotsPerInch && dots_per_inch <= kMostDotsPerInch)) {
    throw PreconditionError(
        fmt::format("to_png: the resolution must be from {} to {} dots per inch, got {}",
                    kLeastDotsPerInch,
                    kMostDotsPerInch,
                    dots_per_inch));
  }
  const RsvgDocument document(to_svg(figure));
  const double scale = dots_per_inch / kPointsPerInch;
  const double width = std::max(1.0, std::round(document.width() * scale));
  const double height = std::max(1.0, std::round(document.height() * scale));
  if (!(width <= kMostPixels && height <= kMostPixels && width * height <= kMostPixelsInAll)) {
    throw ConfigError(fmt::format(
        "a picture of {:.0f} x {:.0f} pixels is too large: it may have {:.0f} on a side and "
        "{:.0f} in all; a lower `dpi` gives fewer",
        width,
        height,
        kMostPixels,
        kMostPixelsInAll));
  }
  const Surface surface = owned(rsvg().cairo_image_surface_create(
      CAIRO_FORMAT_RGB24, static_cast<int>(width), static_cast<int>(height)));
  document.draw(surface.get(), width, height);
  std::string bytes;
  require_success(rsvg().cairo_surface_write_to_png_stream(surface.get(), append, &bytes));
  constexpr std::size_t kEndOfHeader = 8 + 25;  // signature, and IHDR, which comes first
  return bytes.insert(kEndOfHeader, resolution_chunk(dots_per_inch));
}

}  // namespace hesscope::plot
