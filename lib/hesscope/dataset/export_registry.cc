// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <hesscope/core/suggest.h>
#include <hesscope/dataset/export_registry.h>
#include <hesscope/dataset/internal/exports.h>
#include <hesscope/dataset/internal/landscape_grid.h>

namespace hesscope::io {

std::span<const ExportKind> export_kinds() {
  static const std::vector<ExportKind> formats = {
      csv_export_kind(),
      losslandscape_export_kind(),
      vtk_export_kind(),
  };
  return formats;
}

std::vector<std::filesystem::path> files_of_export(const ExportKind& format,
                                                   const ResultReader& result,
                                                   const std::filesystem::path& output) {
  std::vector<std::filesystem::path> files = {output};
  if (has_landscape(result) && has_trajectory(result)) {
    files.push_back(trajectory_file(result, output, format.trajectory_suffix));
  }
  return files;
}

const ExportKind& find_export_kind(const std::string& name) {
  return find_named(export_kinds(), name, "export format");
}

}  // namespace hesscope::io
