// SPDX-License-Identifier: BSD-3-Clause
//
// librsvg and cairo, loaded on demand. If linked, they and the forty libraries that they need would
// add 12 ms to the start of every command.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include <cairo/cairo-pdf.h>
#include <cairo/cairo.h>
#include <librsvg/rsvg.h>

namespace hesscope::plot {

/// Their functions, as declared by their headers.
struct RsvgFunctions {
  decltype(&::g_error_free) g_error_free = nullptr;
  decltype(&::g_object_unref) g_object_unref = nullptr;
  decltype(&::rsvg_handle_new_from_data) rsvg_handle_new_from_data = nullptr;
  decltype(&::rsvg_handle_set_dpi) rsvg_handle_set_dpi = nullptr;
  decltype(&::rsvg_handle_get_intrinsic_size_in_pixels) rsvg_handle_get_intrinsic_size_in_pixels =
      nullptr;
  decltype(&::rsvg_handle_render_document) rsvg_handle_render_document = nullptr;
  decltype(&::cairo_create) cairo_create = nullptr;
  decltype(&::cairo_destroy) cairo_destroy = nullptr;
  decltype(&::cairo_paint) cairo_paint = nullptr;
  decltype(&::cairo_set_source_rgb) cairo_set_source_rgb = nullptr;
  decltype(&::cairo_status) cairo_status = nullptr;
  decltype(&::cairo_status_to_string) cairo_status_to_string = nullptr;
  decltype(&::cairo_surface_destroy) cairo_surface_destroy = nullptr;
  decltype(&::cairo_surface_finish) cairo_surface_finish = nullptr;
  decltype(&::cairo_surface_status) cairo_surface_status = nullptr;
  decltype(&::cairo_image_surface_create) cairo_image_surface_create = nullptr;
  decltype(&::cairo_surface_write_to_png_stream) cairo_surface_write_to_png_stream = nullptr;
  decltype(&::cairo_pdf_surface_create_for_stream) cairo_pdf_surface_create_for_stream = nullptr;
  decltype(&::cairo_pdf_surface_set_metadata) cairo_pdf_surface_set_metadata = nullptr;
};

/// Loads them once; they stay loaded. @throws OutputError saying what is missing.
const RsvgFunctions& rsvg();

/// @throws OutputError with cairo's error message unless the status is success.
void require_success(cairo_status_t status);

using Surface = std::unique_ptr<cairo_surface_t, std::function<void(cairo_surface_t*)>>;

/// Takes over the surface. @throws OutputError if it could not be created.
Surface owned(cairo_surface_t* surface);

/// A parsed SVG document.
class RsvgDocument {
 public:
  /// @throws OutputError if librsvg does not accept it.
  explicit RsvgDocument(const std::string& svg);

  double width() const { return width_; }  ///< in points

  double height() const { return height_; }

  /// Draws it to fill a surface of width x height units. @throws OutputError as above.
  void draw(cairo_surface_t* surface, double width, double height) const;

 private:
  std::unique_ptr<RsvgHandle, std::function<void(RsvgHandle*)>> handle_;
  double width_ = 0;
  double height_ = 0;
};

/// A cairo_write_func_t that appends to the std::string behind `closure`.
cairo_status_t append(void* closure, const unsigned char* data, unsigned length) noexcept;

}  // namespace hesscope::plot
