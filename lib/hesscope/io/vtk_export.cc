// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include <hesscope/io/atomic_file.h>
#include <hesscope/io/landscape_grid.h>
#include <hesscope/io/vtk_export.h>

namespace hesscope::io {
namespace {

double largest_finite(const std::vector<double>& values) {
  double largest = 0;
  bool is_first = true;
  for (const double value : values) {
    if (!std::isfinite(value) || (!is_first && value <= largest)) continue;
    largest = value;
    is_first = false;
  }
  return largest;
}

void write_vtk(const ResultReader& result, const std::filesystem::path& output, bool overwrite) {
  const LandscapeGrid grid = read_landscape(result);
  const double ceiling = largest_finite(grid.loss());
  const std::size_t count = grid.loss().size();
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "# vtk DataFile Version 3.0\nhesscope landscape\nASCII\nDATASET STRUCTURED_GRID\n"
                 "DIMENSIONS {} {} 1\nPOINTS {} double\n",
                 grid.alpha.size(),
                 grid.beta.size(),
                 count);
  for (std::size_t b = 0; b < grid.beta.size(); ++b) {
    for (std::size_t a = 0; a < grid.alpha.size(); ++a) {
      const double loss = grid.loss()[b * grid.alpha.size() + a];
      fmt::format_to(
          out, "{} {} {}\n", grid.alpha[a], grid.beta[b], std::isfinite(loss) ? loss : ceiling);
    }
  }
  fmt::format_to(out, "POINT_DATA {}\n", count);
  for (const auto& [name, values] : grid.fields) {
    fmt::format_to(out, "SCALARS {} double 1\nLOOKUP_TABLE default\n", name);
    for (const double value : values) {
      fmt::format_to(out, "{}\n", std::isfinite(value) ? fmt::format("{}", value) : "nan");
    }
  }
  write_whole(output, text, overwrite);
}

}  // namespace

ExportFormat vtk_export_format() {
  return {"vtk", ".vtk", "legacy VTK structured grid, for ParaView and VisIt", write_vtk};
}

}  // namespace hesscope::io
