// SPDX-License-Identifier: BSD-3-Clause
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analysis/internal/checkpoint_records.h>
#include <hesscope/analyzers/internal/group_dimensions.h>
#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/paths/internal/path_file.h>
#include <hesscope/paths/internal/path_quantities.h>

namespace hesscope::detail {
namespace {

// Whether there is a status for each entry along the first dimension.
std::size_t num_status_dimensions(const Variable& variable) {
  const bool has_own = !variable.dimensions.empty() && variable.dimensions.front() != "parameter";
  return has_own ? 1 : 0;
}

}  // namespace

PathFile::PathFile(const PathRequest& request,
                   const PathInputs& inputs,
                   const io::RunConfiguration& configuration)
    : CheckpointResult(request.output,
                       io::existing_of(request.overwrite),
                       subject_of(inputs.files().problem),
                       provenance_of(inputs.files(), "path", request.command, request.seed),
                       configuration) {
  const Eigen::Index n = inputs.objective().num_parameters();
  const bool is_assembled = n <= kLargestAssembled;
  file().define_dimension(io::kPathGroup, kImage, static_cast<std::uint64_t>(request.num_images));
  const auto places = Eigen::VectorXd::LinSpaced(num_places(request), 0, 1).eval();
  file().define_dimension(io::kPathGroup, kPlace, static_cast<std::uint64_t>(places.size()));
  file().define_variable(io::kPathGroup, place_quantity());
  file().write(io::kPathGroup,
               kPlace,
               std::span<const double>(places.data(), static_cast<std::size_t>(places.size())));
  if (request.has_spectrum && is_assembled) {
    quantities().define_dimensions(io::kPathGroup, {rank_dimension(kRank, n)});
  }
  const auto define = [&](const std::vector<Variable>& all) {
    for (const Variable& quantity : all) {
      quantities().define(
          io::kPathGroup, quantity, quantity.dimensions, num_status_dimensions(quantity));
    }
  };
  define(image_quantities(request.has_spectrum, is_assembled));
  define(straight_quantities());
  define(saddle_quantities());
  define(alignment_quantities());
  define(band_quantities());
  name_checkpoints(inputs.files(), *this);
}

void PathFile::write_image(std::size_t image, const Group& record) {
  quantities().write(io::kPathGroup, record, image);
}

void PathFile::write_path(const Group& record) {
  for (const Variable& variable : record.variables) {
    if (variable.is_said()) quantities().write(io::kPathGroup, variable);
  }
}

void PathFile::name_maps(const std::vector<std::string>& families) {
  file().set_attribute(io::kPathGroup,
                       {"aligned_by", fmt::format("{}", fmt::join(families, "; "))});
}

}  // namespace hesscope::detail
