// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <iterator>
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
  return fmt::format("# vtk DataFile Version 3.0\nhesscope {}\nASCII\nDATASET {}\n", what, kind);
}

void add_scalars(const std::string& name, const std::vector<double>& values, std::string& text) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "SCALARS {} double 1\nLOOKUP_TABLE default\n", name);
  for (const double value : values) {
    fmt::format_to(out, "{}\n", std::isfinite(value) ? fmt::format("{}", value) : "nan");
  }
}

std::string surface_of(const LandscapeGrid& grid, double ceiling) {
  std::string text = header_of("landscape", "STRUCTURED_GRID");
  const auto out = std::back_inserter(text);
  const std::size_t count = grid.loss().size();
  fmt::format_to(
      out, "DIMENSIONS {} {} 1\nPOINTS {} double\n", grid.alpha.size(), grid.beta.size(), count);
  for (std::size_t b = 0; b < grid.beta.size(); ++b) {
    for (std::size_t a = 0; a < grid.alpha.size(); ++a) {
      const double loss = grid.loss()[b * grid.alpha.size() + a];
      fmt::format_to(
          out, "{} {} {}\n", grid.alpha[a], grid.beta[b], std::isfinite(loss) ? loss : ceiling);
    }
  }
  fmt::format_to(out, "POINT_DATA {}\n", count);
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
    fmt::format_to(std::back_inserter(numbers_), "{}", num_points);
    for (std::size_t k = 0; k < num_points; ++k) {
      fmt::format_to(std::back_inserter(numbers_), " {}", first_point + k);
    }
    numbers_ += '\n';
  }

  std::string text() const {
    return count_ == 0 ? "" : fmt::format("{} {} {}\n{}", kind_, count_, num_numbers_, numbers_);
  }

 private:
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
      fmt::format_to(std::back_inserter(points),
                     "{} {} {}\n",
                     trajectory.alpha[i],
                     trajectory.beta[i],
                     std::isfinite(loss) ? loss : ceiling);
      steps.push_back(step == kMissingCount ? kNaN : static_cast<double>(step));
      losses.push_back(loss);
      residuals.push_back(trajectory.residual[i]);
    }
  }
  const std::size_t count = losses.size();
  if (count < 2) return {};
  std::string text = header_of("trajectory", "POLYDATA");
  fmt::format_to(std::back_inserter(text),
                 "POINTS {} double\n{}{}{}POINT_DATA {}\n",
                 count,
                 points,
                 vertices.text(),
                 lines.text(),
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
