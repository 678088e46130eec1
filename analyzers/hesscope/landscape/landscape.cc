// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <hesscope/analysis/internal/checkpoint_records.h>
#include <hesscope/analysis/internal/run_steps.h>
#include <hesscope/analysis/internal/team_session.h>
#include <hesscope/analysis/internal/unit_run.h>
#include <hesscope/core/error.h>
#include <hesscope/core/stop_request.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/landscape/faithfulness.h>
#include <hesscope/landscape/internal/landscape_file.h>
#include <hesscope/landscape/internal/landscape_inputs.h>
#include <hesscope/landscape/internal/landscape_reading.h>
#include <hesscope/landscape/internal/landscape_summary.h>
#include <hesscope/landscape/landscape.h>
#include <hesscope/landscape/surface.h>
#include <hesscope/storage/unit_folder.h>

namespace hesscope {
namespace {

using detail::LandscapeFile;
using detail::LandscapeInputs;
using detail::LandscapeParts;
using detail::LandscapeView;

const char* const kDirections = "directions";
const char* const kCentre = "centre";

std::string tile_name(Eigen::Index tile) { return fmt::format("tile-{:06}", tile); }

// One run: finished work is kept unit by unit, then put together.
class LandscapeRun {
 public:
  LandscapeRun(const LandscapeRequest& request, const ProgressCallback& progress)
      : request_(request), progress_(progress) {
    const Stopwatch watch(result_.timings.load_seconds);
    inputs_.emplace(request, [this](double) { return !progress_ || progress_(0); });
  }

  LandscapeResult execute() {
    const io::RunConfiguration configuration = inputs_->configuration();
    detail::run_steps(request_,
                      inputs_->files(),
                      "landscape",
                      configuration,
                      {.probe = [&] { open_file(configuration); },
                       .read = [&] { detail::read_landscape(request_, *inputs_, result_); },
                       .compute = [&](detail::UnitRun& run) { compute(run); },
                       .assemble = [&](detail::UnitRun& run) { assemble(run, configuration); }},
                      result_);
    return std::move(result_);
  }

 private:
  LandscapeFile open_file(const io::RunConfiguration& configuration) const {
    const LandscapeView& view = inputs_->view();
    const detail::CheckpointInputs& files = inputs_->files();
    std::vector<Variable> scalars = view.kind().quantities;
    for (const Variable& quantity : view.scalars()) scalars.push_back(quantity);
    return {
        request_.output,
        io::existing_of(request_.overwrite),
        {.subject = detail::subject_of(files.problem),
         .provenance = detail::provenance_of(files, "landscape", request_.command, request_.seed),
         .configuration = configuration,
         .checkpoints = files.checkpoints,
         .digests = files.digests,
         .description = view.description(),
         .grid = grid(),
         .scalars = std::move(scalars)}};
  }

  const Grid& grid() const { return found_ ? found_->grid : request_.grid; }

  // The units that are divided among parts once the directions are known: those of the checkpoints,
  // of the centre, and of the tiles, numbered in this order.
  std::vector<detail::DealtUnit> units(const Group& directions) {
    std::vector<detail::DealtUnit> all = detail::root_units(inputs_->files());
    for (detail::DealtUnit& unit : all) unit.work = 0;  // negligible next to the points of the grid
    if (directions["direction_1"].status() != Status::kOk) return all;
    found_ = inputs_->view().find_plane(directions);
    if (!found_->left_out.empty()) result_.warnings.push_back(found_->left_out);
    all.push_back({.name = kCentre,
                   .what = "the curvature at the centre",
                   .work = 0,
                   .make = [this](const auto&) {
                     const Stopwatch watch(result_.timings.directions_seconds);
                     return inputs_->view().measure_centre(found_->plane);
                   }});
    surface_.emplace(inputs_->view().make_surface(*found_));
    for (Eigen::Index tile = 0; tile < surface_->num_tiles(); ++tile) {
      all.push_back({.name = tile_name(tile),
                     .what = fmt::format("tile {} of {}", tile + 1, surface_->num_tiles()),
                     .work = static_cast<double>(surface_->size_of(tile)),
                     .make = [this, tile](const ProgressCallback& progress) {
                       return make_tile(tile, progress);
                     }});
    }
    return all;
  }

  void compute(detail::UnitRun& run) {
    result_.part = run.complete(units(kept_directions(run)), progress_);
  }

  Group make_tile(Eigen::Index tile, const ProgressCallback& progress) {
    const Stopwatch watch(result_.timings.grid_seconds);
    inputs_->view().centre().release();
    const auto size = static_cast<double>(surface_->size_of(tile));
    double done = 0;
    return surface_->tile(tile, [&](double points) {
      done += points;
      detail::report(progress, std::min(done / size, 1.0));
    });
  }

  // The directions of this plane, computed if they are missing. This comes first, so that inputs
  // that fit no plane are refused before anything is kept.
  Group kept_directions(detail::UnitRun& run) {
    const Stopwatch watch(result_.timings.directions_seconds);
    if (std::optional<Group> record = run.find(kDirections)) return *std::move(record);
    if (request_.share.merge_only) run.refuse_merge_without("the directions");
    if (progress_ && !progress_(0)) throw Interrupted();
    Group record = inputs_->view().make_directions();
    run.keep(kDirections, record);
    return record;
  }

  // Puts the units together in the file and in the summary.
  void assemble(detail::UnitRun& run, const io::RunConfiguration& configuration) {
    const Stopwatch watch(result_.timings.write_seconds);
    LandscapeFile file = open_file(configuration);
    const detail::CheckpointInputs& files = inputs_->files();
    const std::vector<Group> roots = detail::write_roots(run, files, file, result_);
    detail::summarize_roots(*inputs_, roots, grid(), result_);
    std::optional<Group> centre;
    if (found_) centre = run.read(kCentre);
    const LandscapeParts parts =
        inputs_->view().assemble(run.read(kDirections),
                                 result_.checkpoints,
                                 files.runs,
                                 found_ ? &*found_ : nullptr,
                                 centre ? &*centre : nullptr,
                                 found_ ? surface_->num_tiles() : 0,
                                 [&](Eigen::Index tile) { return run.read(tile_name(tile)); });
    detail::summarize_landscape(parts, result_);
    file.write_parts(parts);
    file.commit(result_.is_conclusive, result_.warnings);
  }

  const LandscapeRequest& request_;
  const ProgressCallback& progress_;
  LandscapeResult result_;
  std::optional<LandscapeInputs> inputs_;
  std::optional<detail::FoundPlane> found_;  // set when the directions are known
  std::optional<Surface> surface_;
};

}  // namespace

LandscapeResult run_landscape(const LandscapeRequest& request, const ProgressCallback& progress) {
  const double start = wall_seconds();
  LandscapeResult result = LandscapeRun(request, progress).execute();
  result.timings.total_seconds = wall_seconds() - start;
  return result;
}

void serve_landscape(Team& team, const std::function<LandscapeRequest()>& request) {
  detail::serve_inputs(team, [&] {
    const LandscapeRequest asked = request();
    const auto inputs = std::make_shared<const LandscapeInputs>(asked, ProgressCallback());
    return detail::ServedInputs{{inputs, &inputs->files()}, inputs->configuration()};
  });
}

}  // namespace hesscope
