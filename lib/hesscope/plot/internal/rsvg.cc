// SPDX-License-Identifier: BSD-3-Clause
#include <exception>

#include <dlfcn.h>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/plot/internal/rsvg.h>

namespace hesscope::plot {
namespace {

constexpr const char* kLibrary = "librsvg-2.so.2";  // which depends on the others

[[noreturn]] void fail(const std::string& why) {
  throw OutputError("the figure could not be printed: " + why);
}

template <typename Function>
void look_up(void* library, const char* name, Function*& function) {
  void* const found = dlsym(library, name);
  if (found == nullptr) fail(fmt::format("{} has no {}: it is too old", kLibrary, name));
  function = reinterpret_cast<Function*>(found);
}

RsvgFunctions load() {
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);  // never closed
  if (library == nullptr) {
    const char* const why = dlerror();
    throw OutputError(fmt::format(
        "PDF and PNG need librsvg, which is missing here ({}): `apt-get install librsvg2-2` brings "
        "it; SVG needs nothing",
        why == nullptr ? kLibrary : why));
  }
  RsvgFunctions f;
  look_up(library, "g_error_free", f.g_error_free);
  look_up(library, "g_object_unref", f.g_object_unref);
  look_up(library, "rsvg_handle_new_from_data", f.rsvg_handle_new_from_data);
  look_up(library, "rsvg_handle_set_dpi", f.rsvg_handle_set_dpi);
  look_up(library,
          "rsvg_handle_get_intrinsic_size_in_pixels",
          f.rsvg_handle_get_intrinsic_size_in_pixels);
  look_up(library, "rsvg_handle_render_document", f.rsvg_handle_render_document);
  look_up(library, "cairo_create", f.cairo_create);
  look_up(library, "cairo_destroy", f.cairo_destroy);
  look_up(library, "cairo_paint", f.cairo_paint);
  look_up(library, "cairo_set_source_rgb", f.cairo_set_source_rgb);
  look_up(library, "cairo_status", f.cairo_status);
  look_up(library, "cairo_status_to_string", f.cairo_status_to_string);
  look_up(library, "cairo_surface_destroy", f.cairo_surface_destroy);
  look_up(library, "cairo_surface_finish", f.cairo_surface_finish);
  look_up(library, "cairo_surface_status", f.cairo_surface_status);
  look_up(library, "cairo_image_surface_create", f.cairo_image_surface_create);
  look_up(library, "cairo_surface_write_to_png_stream", f.cairo_surface_write_to_png_stream);
  look_up(library, "cairo_pdf_surface_create_for_stream", f.cairo_pdf_surface_create_for_stream);
  look_up(library, "cairo_pdf_surface_set_metadata", f.cairo_pdf_surface_set_metadata);
  return f;
}

// Throws for a GError, and frees it.
[[noreturn]] void fail(GError* error) {
  std::string why = "librsvg does not say why";
  if (error != nullptr) {
    why = error->message;
    rsvg().g_error_free(error);
  }
  fail(why);
}

}  // namespace

const RsvgFunctions& rsvg() {
  static const RsvgFunctions functions = load();
  return functions;
}

void require_success(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS) fail(rsvg().cairo_status_to_string(status));
}

Surface owned(cairo_surface_t* surface) {
  Surface owner(surface, rsvg().cairo_surface_destroy);
  require_success(rsvg().cairo_surface_status(surface));
  return owner;
}

RsvgDocument::RsvgDocument(const std::string& svg) {
  GError* error = nullptr;
  handle_ = {rsvg().rsvg_handle_new_from_data(
                 reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error),
             [](RsvgHandle* handle) { rsvg().g_object_unref(handle); }};
  if (!handle_) fail(error);
  constexpr double kPointsPerInch = 72;
  rsvg().rsvg_handle_set_dpi(handle_.get(), kPointsPerInch);  // a pixel is a point
  if (rsvg().rsvg_handle_get_intrinsic_size_in_pixels(handle_.get(), &width_, &height_) == FALSE) {
    fail("the drawing has no size");
  }
}

void RsvgDocument::draw(cairo_surface_t* surface, double width, double height) const {
  const std::unique_ptr<cairo_t, std::function<void(cairo_t*)>> context(
      rsvg().cairo_create(surface), rsvg().cairo_destroy);
  rsvg().cairo_set_source_rgb(context.get(), 1, 1, 1);
  rsvg().cairo_paint(context.get());
  const RsvgRectangle place{.x = 0, .y = 0, .width = width, .height = height};
  GError* error = nullptr;
  if (rsvg().rsvg_handle_render_document(handle_.get(), context.get(), &place, &error) == FALSE) {
    fail(error);
  }
  require_success(rsvg().cairo_status(context.get()));
}

cairo_status_t append(void* closure, const unsigned char* data, unsigned length) noexcept {
  try {
    static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
  } catch (const std::exception&) {
    return CAIRO_STATUS_NO_MEMORY;
  }
}

}  // namespace hesscope::plot
