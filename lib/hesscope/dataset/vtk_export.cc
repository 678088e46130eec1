// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/dataset/internal/exports.h>
#include <hesscope/dataset/internal/landscape_grid.h>

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

std::string header_of(const char* what, const char* kind) {
  return fmt::format("# vtk DataFile Version 3.0\nhesscope {}\nBINARY\nDATASET {}\n", what, kind);
}

void add_big_endian(std::unsigned_integral auto bits, std::string& bytes) {
  for (int shift = 8 * (sizeof(bits) - 1); shift >= 0; shift -= 8) {
    bytes += static_cast<char>((bits >> shift) & 0xffU);
  }
}

void add_number(double value, std::string& bytes) {
  add_big_endian(std::bit_cast<std::uint64_t>(std::isfinite(value) ? value : kNaN), bytes);
}

void add_point(double x, double y, double z, std::string& bytes) {
  for (const double value : {x, y, z}) add_number(value, bytes);
}

void add_scalars(const std::string& name, const std::vector<double>& values, std::string& bytes) {
  bytes += fmt::format("SCALARS {} double 1\nLOOKUP_TABLE default\n", name);
  for (const double value : values) add_number(value, bytes);
  bytes += '\n';
}

std::string surface_of(const LandscapeGrid& grid, double ceiling) {
  std::string text = header_of("landscape", "STRUCTURED_GRID");
  const std::size_t count = grid.loss().size();
  text += fmt::format(
      "DIMENSIONS {} {} 1\nPOINTS {} double\n", grid.alpha.size(), grid.beta.size(), count);
  for (std::size_t b = 0; b < grid.beta.size(); ++b) {
    for (std::size_t a = 0; a < grid.alpha.size(); ++a) {
      const double loss = grid.loss()[b * grid.alpha.size() + a];
      add_point(grid.alpha[a], grid.beta[b], std::isfinite(loss) ? loss : ceiling, text);
    }
  }
  text += fmt::format("\nPOINT_DATA {}\n", count);
  for (const auto& [name, values] : grid.fields) add_scalars(name, values, text);
  return text;
}

// Cells of the kind VERTICES or LINES: their number, the number of integers, and these.
class Cells {
 public:
  explicit Cells(const char* kind) : kind_(kind) {}

  void add(std::size_t first_point, std::size_t num_points) {
    ++count_;
    num_numbers_ += num_points + 1;
    add_integer(num_points);
    for (std::size_t k = 0; k < num_points; ++k) add_integer(first_point + k);
  }

  std::string bytes() const {
    return count_ == 0 ? "" : fmt::format("{} {} {}\n{}\n", kind_, count_, num_numbers_, numbers_);
  }

 private:
  void add_integer(std::size_t number) {
    add_big_endian(static_cast<std::uint32_t>(number), numbers_);
  }

  const char* kind_;
  std::size_t count_ = 0;
  std::size_t num_numbers_ = 0;
  std::string numbers_;
};

// One line per path. Empty if fewer than two checkpoints have a place.
std::string polylines_of(const LandscapeTrajectory& trajectory, double ceiling) {
  std::vector<double> steps;
  std::vector<double> losses;
  std::vector<double> residuals;
  std::string points;
  Cells vertices("VERTICES");
  Cells lines("LINES");
  for (const std::vector<std::size_t>& path : trajectory.paths()) {
    (path.size() == 1 ? vertices : lines).add(losses.size(), path.size());
    for (const std::size_t i : path) {
      const double loss = trajectory.loss[i];
      const std::int64_t step = trajectory.steps[i];
      add_point(
          trajectory.alpha[i], trajectory.beta[i], std::isfinite(loss) ? loss : ceiling, points);
      steps.push_back(step == kMissingCount ? kNaN : static_cast<double>(step));
      losses.push_back(loss);
      residuals.push_back(trajectory.residual[i]);
    }
  }
  const std::size_t count = losses.size();
  if (count < 2) return {};
  std::string text = header_of("trajectory", "POLYDATA");
  text += fmt::format("POINTS {} double\n{}\n{}{}POINT_DATA {}\n",
                      count,
                      points,
                      vertices.bytes(),
                      lines.bytes(),
                      count);
  add_scalars("step", steps, text);
  add_scalars("loss", losses, text);
  add_scalars("residual", residuals, text);
  return text;
}

std::vector<std::filesystem::path> write_vtk(const ResultReader& result,
                                             const std::filesystem::path& output,
                                             Existing existing) {
  const LandscapeGrid grid = read_landscape(result);
  const double ceiling = largest_finite(grid.loss());
  return write_landscape(result,
                         output,
                         existing,
                         surface_of(grid, ceiling),
                         polylines_of(read_trajectory(result), ceiling));
}

}  // namespace

ExportKind vtk_export_kind() {
  return {"vtk",
          ".vtk",
          "legacy VTK for ParaView and VisIt: a structured grid, and trajectories as polylines",
          write_vtk,
          {"# vtk DataFile Version 3.0\nhesscope "},
          kTrajectorySuffix};
}

}  // namespace hesscope::io
