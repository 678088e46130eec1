// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/report/internal/assets.h>

#define HESSCOPE_EMBEDDED(name)                    \
  extern "C" const char hesscope_##name##_begin[]; \
  extern "C" const char hesscope_##name##_end[]

HESSCOPE_EMBEDDED(page_css);
HESSCOPE_EMBEDDED(scripts_js);
HESSCOPE_EMBEDDED(plotly_cartesian_gz);
HESSCOPE_EMBEDDED(plotly_cartesian_sha256);
HESSCOPE_EMBEDDED(plotly_gl3d_gz);
HESSCOPE_EMBEDDED(plotly_gl3d_sha256);

#undef HESSCOPE_EMBEDDED

namespace hesscope::report {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view style_sheet() { return between(hesscope_page_css_begin, hesscope_page_css_end); }

std::string_view scripts() { return between(hesscope_scripts_js_begin, hesscope_scripts_js_end); }

Bundle plotly_flat() {
  return {std::as_bytes(
              std::span(hesscope_plotly_cartesian_gz_begin, hesscope_plotly_cartesian_gz_end)),
          between(hesscope_plotly_cartesian_sha256_begin, hesscope_plotly_cartesian_sha256_end)};
}

Bundle plotly_raised() {
  return {std::as_bytes(std::span(hesscope_plotly_gl3d_gz_begin, hesscope_plotly_gl3d_gz_end)),
          between(hesscope_plotly_gl3d_sha256_begin, hesscope_plotly_gl3d_sha256_end)};
}

}  // namespace hesscope::report
