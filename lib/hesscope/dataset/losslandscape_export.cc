// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/core/constants.h>
#include <hesscope/dataset/internal/exports.h>
#include <hesscope/dataset/internal/landscape_grid.h>
#include <hesscope/dataset/result_file.h>

namespace hesscope::io {
namespace {

const std::string kX = "xcoordinates";
const std::string kY = "ycoordinates";
const std::string kTrainLoss = "train_loss";
const std::string kProjectionSuffix = "_proj_lstsq";  // least squares, as that code calls it

// A dataset along a dimension of the same name: plain HDF5 readers see only the dataset; that it is
// also valid netCDF does no harm.
void add_list(Group& group, const std::string& name, std::vector<double> values, const char* what) {
  group.dimensions.push_back({.name = name, .size = std::ssize(values)});
  group.add({.name = name,
             .dimensions = {name},
             .long_name = what,
             .definition = what,
             .values = std::move(values)});
}

Group surface_of(const LandscapeGrid& grid) {
  Group surface;
  const bool is_line = grid.beta.size() == 1;
  add_list(surface, kX, grid.alpha, "coefficient of the direction along x");
  if (!is_line) add_list(surface, kY, grid.beta, "coefficient of the direction along y");
  surface.add(
      {.name = kTrainLoss,
       .dimensions = is_line ? std::vector<std::string>{kX} : std::vector<std::string>{kY, kX},
       .long_name = "loss",
       .definition = "at theta + x direction_1 + y direction_2",
       .values = grid.loss()});
  return surface;
}

// The shares of the first two principal components; empty for other directions.
std::vector<double> explained_shares(const ResultReader& result) {
  std::vector<double> shares;
  for (const char* name : {"explained_1", "explained_2"}) {
    if (result.find(kLandscapeGroup, name) == nullptr) return {};
    const std::vector<double> share = result.read_doubles(kLandscapeGroup, name);
    shares.insert(shares.end(), share.begin(), share.end());
  }
  return shares;
}

// The places of the checkpoints, with a NaN, to which no plot draws a line, between those of two
// runs.
void list_places(const LandscapeTrajectory& trajectory,
                 std::vector<double>& alpha,
                 std::vector<double>& beta) {
  const std::vector<std::vector<std::size_t>> paths = trajectory.paths();
  if (paths.size() <= 1) {
    alpha = trajectory.alpha;
    beta = trajectory.beta;
    return;
  }
  for (const std::vector<std::size_t>& path : paths) {
    if (!alpha.empty()) {
      alpha.push_back(kNaN);
      beta.push_back(kNaN);
    }
    for (const std::size_t i : path) {
      alpha.push_back(trajectory.alpha[i]);
      beta.push_back(trajectory.beta[i]);
    }
  }
}

void fill_projection(ResultFile& file,
                     const LandscapeTrajectory& trajectory,
                     const std::vector<double>& shares) {
  const auto write = [&file](
                         const char* name, const std::vector<double>& values, const char* what) {
    Group list;
    add_list(list, name, values, what);
    file.write(list);
  };
  std::vector<double> alpha;
  std::vector<double> beta;
  list_places(trajectory, alpha, beta);
  write("proj_xcoord", alpha, "x of each checkpoint's projection, by least squares");
  write("proj_ycoord", beta, "y of each checkpoint's projection, by least squares");
  if (shares.empty()) return;
  write("explained_variance_ratio_", shares, "share of the trajectory along x and along y");
}

std::vector<std::filesystem::path> write_losslandscape(const ResultReader& result,
                                                       const std::filesystem::path& output,
                                                       Existing existing) {
  const LandscapeGrid grid = read_landscape(result);
  const LandscapeTrajectory trajectory = read_trajectory(result);
  ResultFile surface(output, {.existing = existing});
  surface.write(surface_of(grid));
  if (trajectory.size() == 0) {
    surface.commit();
    return {output};
  }
  const std::filesystem::path second = trajectory_file(result, output, kProjectionSuffix);
  ResultFile projection(second, {.existing = existing});
  fill_projection(projection, trajectory, explained_shares(result));
  projection.commit();
  surface.commit();
  return {output, second};
}

}  // namespace

ExportKind losslandscape_export_kind() {
  return {"losslandscape",
          ".h5",
          "HDF5 as tomgoldstein/loss-landscape has it, for its plot scripts",
          write_losslandscape,
          {"\x89HDF\r\n\x1a\n"},
          kProjectionSuffix};
}

}  // namespace hesscope::io
