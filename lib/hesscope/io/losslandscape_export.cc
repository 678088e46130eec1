// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/io/landscape_grid.h>
#include <hesscope/io/losslandscape_export.h>
#include <hesscope/io/result_file.h>

namespace hesscope::io {
namespace {

const std::string kRoot;
const std::string kX = "xcoordinates";
const std::string kY = "ycoordinates";
const std::string kLoss = "train_loss";

void write_losslandscape(const ResultReader& result,
                         const std::filesystem::path& output,
                         bool overwrite) {
  const LandscapeGrid grid = read_landscape(result);
  const bool is_line = grid.beta.size() == 1;
  // Plain HDF5 readers see three datasets; that they are netCDF, too, does no harm.
  ResultFile file(output, {.overwrite = overwrite});
  const auto define_axis = [&](const std::string& name,
                               const char* axis,
                               const std::vector<double>& values) {
    file.define_dimension(kRoot, name, values.size());
    file.define_variable(kRoot,
                         {.name = name,
                          .dimensions = {name},
                          .long_name = std::string("grid along ") + axis,
                          .definition = std::string("coefficient of the direction along ") + axis});
  };
  define_axis(kX, "x", grid.alpha);
  if (!is_line) define_axis(kY, "y", grid.beta);
  file.define_variable(
      kRoot,
      {.name = kLoss,
       .dimensions = is_line ? std::vector<std::string>{kX} : std::vector<std::string>{kY, kX},
       .long_name = "loss",
       .definition = "at theta + x direction_1 + y direction_2"});
  file.write(kRoot, kX, grid.alpha);
  if (!is_line) file.write(kRoot, kY, grid.beta);
  file.write(kRoot, kLoss, grid.loss());
  file.commit();
}

}  // namespace

ExportFormat losslandscape_export_format() {
  return {"losslandscape",
          ".h5",
          "HDF5 as tomgoldstein/loss-landscape has it, for its plot scripts",
          write_losslandscape};
}

}  // namespace hesscope::io
