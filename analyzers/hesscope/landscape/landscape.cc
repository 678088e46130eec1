// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <hesscope/analysis/internal/checkpoint_records.h>
#include <hesscope/analysis/internal/team_session.h>
#include <hesscope/analysis/internal/unit_run.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/stop_request.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/landscape/faithfulness.h>
#include <hesscope/landscape/internal/framing.h>
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

// Up to here the spectrum at the centre is found even if no curvature is asked for: seconds.
constexpr Eigen::Index kSmallSpectrum = 2000;

const char* const kDirections = "directions";
const char* const kCentre = "centre";

std::string tile_name(Eigen::Index tile) { return fmt::format("tile-{:06}", tile); }

// One run: what is finished is kept unit by unit, then put together.
class LandscapeRun {
 public:
  LandscapeRun(const LandscapeRequest& request, const ProgressCallback& progress)
      : request_(request), progress_(progress), grid_(request.grid) {
    const Stopwatch watch(result_.timings.load_seconds);
    inputs_.emplace(request, [this](double) { return !progress_ || progress_(0); });
  }

  LandscapeResult execute() {
    const io::RunConfiguration configuration = inputs_->configuration(request_);
    run_.emplace(
        request_.output, "landscape", request_.overwrite, request_.share, configuration, [&] {
          open_file(configuration);
        });
    if (run_->is_done()) {
      LandscapeResult result =
          detail::read_landscape(request_, *inputs_, scalars_beside_directions());
      result.timings = result_.timings;
      return result;
    }
    result_.warnings = inputs_->files().warnings;
    std::optional<detail::TeamSession> session;
    if (!request_.share.merge_only) session.emplace(request_.team.get(), configuration);
    const std::vector<Unit> all = units(kept_directions());
    if (request_.share.merge_only) {
      run_->require_dealt(all);
    } else {
      compute_missing(all);
    }
    session.reset();
    if (!request_.share.part) assemble(configuration);
    const std::vector<std::string>& remarks = run_->folder().remarks();
    result_.warnings.insert(result_.warnings.end(), remarks.begin(), remarks.end());
    if (!request_.share.part) run_->finish();
    return std::move(result_);
  }

 private:
  // Scalars in the order of the file and of the summary.
  std::vector<Variable> scalars() const {
    std::vector<Variable> all = inputs_->kind().quantities;
    const auto append = [&all](const std::vector<Variable>& more) {
      all.insert(all.end(), more.begin(), more.end());
    };
    append(centre_quantities());
    append(quadratic_model_quantities());
    if (has_barrier()) append(barrier_quantities());
    return all;
  }

  // A line from one checkpoint to another has one.
  bool has_barrier() const { return inputs_->prepared().path_end.has_value() && !grid_.is_plane(); }

  LandscapeFile open_file(const io::RunConfiguration& configuration) const {
    return {request_, *inputs_, grid_, scalars(), configuration};
  }

  // What parts are dealt.
  struct Unit {
    std::string name;
    std::string what;       // for people
    double num_points = 0;  // of the grid
    std::function<Group(const std::function<void(double)>& advance)> make;
  };

  // All of them, once the directions are known: of checkpoints, of the centre, and of tiles. They are
  // numbered in this order.
  std::vector<Unit> units(const Group& directions) {
    std::vector<Unit> all;
    for (std::size_t i = 0; i < inputs_->files().checkpoints.size(); ++i) {
      all.push_back(
          {.name = detail::root_unit_name(i),
           .what = inputs_->files().checkpoints[i].path.string(),
           .make = [this, i](const auto&) { return detail::root_record(inputs_->files(), i); }});
    }
    if (directions["direction_1"].status() != Status::kOk) return all;
    find_plane(directions);
    all.push_back(
        {.name = kCentre, .what = "the curvature at the centre", .make = [this](const auto&) {
           const bool with_spectrum =
               request_.curvature || inputs_->objective().num_parameters() <= kSmallSpectrum;
           return measure_centre(inputs_->centre(), *plane_, with_spectrum);
         }});
    surface_.emplace(make_surface());
    for (Eigen::Index tile = 0; tile < surface_->num_tiles(); ++tile) {
      all.push_back(
          {.name = tile_name(tile),
           .what = fmt::format("tile {} of {}", tile + 1, surface_->num_tiles()),
           .num_points = static_cast<double>(surface_->size_of(tile)),
           .make = [this, tile](const auto& advance) { return surface_->tile(tile, advance); }});
    }
    return all;
  }

  // The directions of this plane, computed if they are not there yet: first, so that inputs that fit
  // no plane are refused before anything is kept.
  Group kept_directions() {
    const Stopwatch watch(result_.timings.directions_seconds);
    if (std::optional<Group> record = run_->find(kDirections)) return *std::move(record);
    if (request_.share.merge_only) run_->refuse_merge_without("the directions");
    if (progress_ && !progress_(0)) throw Interrupted();
    Group record = make_directions();
    run_->keep(kDirections, record);
    return record;
  }

  // Computes the units, of a part its own, that are not there yet.
  void compute_missing(const std::vector<Unit>& all) {
    std::vector<const Unit*> own;
    double total = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (request_.share.part && !request_.share.part->is_dealt(k)) continue;
      own.push_back(&all[k]);
      total += all[k].num_points;
    }
    double done = 0;
    const std::function<void(double)> advance = [&](double points) {
      done += points;
      detail::report(progress_, std::min(done / std::max(total, 1.0), 1.0));
    };
    std::size_t num_found = 0;
    for (const Unit* unit : own) {
      const bool is_tile = unit->num_points > 0;
      const Stopwatch watch(is_tile ? result_.timings.grid_seconds
                                    : result_.timings.directions_seconds);
      if (is_tile) inputs_->centre().release();
      if (run_->find(unit->name)) {
        ++num_found;
        advance(unit->num_points);
      } else {
        advance(0);
        run_->keep(unit->name, unit->make(advance));
      }
    }
    if (!request_.share.part) return;
    run_->flush();
    result_.part = {.part = *request_.share.part,
                    .num_units = all.size(),
                    .num_own = own.size(),
                    .num_found = num_found};
  }

  Group make_directions() const {
    const Directions directions = inputs_->prepared().make();
    Group answer{.variables = detail::all_direction_quantities(*inputs_)};
    answer.take(directions.facts);
    const Eigen::MatrixXd& d = directions.columns;
    const bool is_fine = directions.status == Status::kOk && d.allFinite();
    if (is_fine) {
      require_independent(d);
      for (Eigen::Index k = 0; k < d.cols(); ++k) {
        const std::string name = fmt::format("direction_{}", k + 1);
        answer[name].set(d.col(k));
        answer[name + "_norm"].set(d.col(k).stableNorm());
      }
      if (d.cols() > 1) answer["direction_cosine"].set(cosine(d.col(0), d.col(1)));
      answer.set_rest_missing(Status::kNotComputed);
    } else {
      answer.set_rest_missing(directions.status == Status::kOk ? Status::kNonFinite
                                                               : directions.status);
    }
    return answer;
  }

  void require_independent(const Eigen::MatrixXd& d) const {
    const auto refuse = [&](const std::string& what) {
      throw InputError(
          fmt::format("{}: `directions` {}: {}",
                      inputs_->files().checkpoints[inputs_->centre_index()].path.string(),
                      request_.directions,
                      what));
    };
    for (Eigen::Index k = 0; k < d.cols(); ++k) {
      if (!(d.col(k).stableNorm() > 0)) {
        refuse(fmt::format("direction_{} ({}) is zero",
                           k + 1,
                           inputs_->prepared().descriptions[static_cast<std::size_t>(k)]));
      }
    }
    constexpr double kParallel = 1 - 1e-12;
    if (d.cols() > 1 && !(std::abs(cosine(d.col(0), d.col(1))) < kParallel)) {
      refuse("the two directions are parallel, so there is no plane; ask for `grid` Nx1");
    }
  }

  // The plane, the checkpoints' places on it, and the grid.
  void find_plane(const Group& directions) {
    const Eigen::VectorXd first = detail::vector_in(directions, "direction_1");
    const bool has_second = directions["direction_2"].status() == Status::kOk;
    const std::vector<Eigen::VectorXd>& points = inputs_->files().points;
    plane_ = {points[inputs_->centre_index()], Eigen::MatrixXd(first.size(), has_second ? 2 : 1)};
    plane_->directions.col(0) = first;
    if (has_second) plane_->directions.col(1) = detail::vector_in(directions, "direction_2");
    places_ = detail::places_on(*plane_, points);
    if (inputs_->is_framed(request_)) grid_ = detail::framed(grid_, places_);
    // Of other kinds, the plane is one of its centre; where the checkpoints are is said separately.
    if (!inputs_->kind().frames_trajectory) return;
    const std::string left_out = detail::left_out_text(grid_, places_);
    if (!left_out.empty()) result_.warnings.push_back(left_out);
  }

  Surface make_surface() const {
    return {inputs_->objective(),
            *plane_,
            grid_,
            {.curvature = request_.curvature,
             .num_threads = request_.num_threads,
             .stop = stop_requested_by(request_.stop)}};
  }

  // Puts the units together, in the file and in the summary.
  void assemble(const io::RunConfiguration& configuration) {
    const Stopwatch watch(result_.timings.write_seconds);
    LandscapeFile file = open_file(configuration);
    const detail::CheckpointInputs& files = inputs_->files();
    std::vector<Group> roots;
    for (std::size_t i = 0; i < files.checkpoints.size(); ++i) {
      roots.push_back(run_->read(detail::root_unit_name(i)));
    }
    const detail::LossCheck check =
        detail::check_losses(files.expected_losses, files.checkpoints, roots);
    for (std::size_t i = 0; i < roots.size(); ++i) {
      file.write_root(i, roots[i]);
      file.write_root(i, check.records[i]);
    }
    result_.warnings.insert(result_.warnings.end(), check.warnings.begin(), check.warnings.end());
    result_.is_conclusive = check.is_as_said;
    detail::summarize_roots(*inputs_, roots, grid_, result_);
    LandscapeParts parts;
    parts.directions = run_->read(kDirections);
    const Status status = parts.directions["direction_1"].status();
    parts.surface = read_surface(status);
    parts.trajectory = detail::trajectory_of(result_.checkpoints, places(status), status);
    parts.scalars = {.variables = scalars_beside_directions()};
    if (status == Status::kOk) {
      parts.scalars.take(run_->read(kCentre));
      add_grid_facts(parts.surface.variables.front().reals(), parts.scalars);
    }
    parts.scalars.set_rest_missing(status);
    detail::summarize_landscape(parts, result_);
    for (const Group* part :
         {&parts.directions, &parts.scalars, &parts.surface, &parts.trajectory}) {
      file.write(*part);
    }
    file.commit(result_.is_conclusive, result_.warnings);
  }

  std::vector<Variable> scalars_beside_directions() const {
    const std::vector<Variable> all = scalars();
    return {all.begin() + static_cast<std::ptrdiff_t>(inputs_->kind().quantities.size()),
            all.end()};
  }

  // The tiles in one; everything missing where there are no directions.
  Group read_surface(Status status) {
    Group whole{.variables = surface_quantities(request_.curvature)};
    if (status != Status::kOk) {
      const auto count = static_cast<std::size_t>(grid_.num_points());
      for (Variable& variable : whole.variables) {
        variable.set_numbers(std::vector<double>(count, kNaN), std::vector<Status>(count, status));
      }
      return whole;
    }
    for (Variable& variable : whole.variables) variable.set_numbers({}, {});
    for (Eigen::Index tile = 0; tile < surface_->num_tiles(); ++tile) {
      whole.append(run_->read(tile_name(tile)));
    }
    return whole;
  }

  // Of the checkpoints, on a plane that may not be there.
  std::vector<Plane::Projection> places(Status status) const {
    if (status == Status::kOk) return places_;
    return std::vector<Plane::Projection>(result_.checkpoints.size(), {kNaN, kNaN, kNaN});
  }

  // What follows from the losses on the grid.
  void add_grid_facts(const std::vector<double>& losses, Group& facts) const {
    const double loss = result_.checkpoints[inputs_->centre_index()].loss;
    facts.take(measure_quadratic_model(facts, loss, grid_, losses));
    if (has_barrier()) {
      const double end = result_.checkpoints[*inputs_->prepared().path_end].loss;
      facts.take(measure_barrier(grid_.alpha, losses, loss, end));
    }
  }

  const LandscapeRequest& request_;
  const ProgressCallback& progress_;
  Grid grid_;
  LandscapeResult result_;
  std::optional<LandscapeInputs> inputs_;
  std::optional<detail::UnitRun> run_;
  std::optional<Plane> plane_;
  std::optional<Surface> surface_;
  std::vector<Plane::Projection> places_;  // of the checkpoints on it
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
    return detail::ServedInputs{{inputs, &inputs->files()}, inputs->configuration(asked)};
  });
}

}  // namespace hesscope
