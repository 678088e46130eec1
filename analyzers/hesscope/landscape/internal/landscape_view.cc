// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <hesscope/analysis/internal/checkpoint_records.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/core/stop_request.h>
#include <hesscope/landscape/faithfulness.h>
#include <hesscope/landscape/internal/framing.h>
#include <hesscope/landscape/internal/landscape_file.h>
#include <hesscope/landscape/internal/landscape_view.h>
#include <hesscope/storage/sha256.h>

namespace hesscope::detail {
namespace {

// Up to this size, the spectrum at the centre is computed even if no curvature is asked for: it
// takes seconds.
constexpr Eigen::Index kSmallSpectrum = 2000;

const Eigen::VectorXd& finite_centre(std::span<const Eigen::VectorXd> points,
                                     std::span<const CheckpointFile> files,
                                     std::size_t index) {
  const Eigen::VectorXd& theta = points[index];
  if (!theta.allFinite()) {
    throw InputError(
        fmt::format("{}: the weights contain NaN or infinity, so there is no landscape around them",
                    files[index].path.string()));
  }
  return theta;
}

}  // namespace

NamedDirections checked_directions(const char* function,
                                   const LandscapeOptions& options,
                                   std::size_t num_points) {
  NamedDirections named = find_direction_kind(options.directions);
  const DirectionKind& kind = *named.kind;
  if (num_points == 0) throw PreconditionError(fmt::format("{}: no checkpoints", function));
  require_grid(function, options.grid);
  if (num_points < kind.min_checkpoints || num_points > kind.max_checkpoints) {
    const bool is_exact = kind.max_checkpoints == kind.min_checkpoints;
    throw ConfigError(fmt::format("`directions` {}: needs {} {} checkpoints, got {}",
                                  kind.name,
                                  is_exact ? "exactly" : "at least",
                                  kind.min_checkpoints,
                                  num_points));
  }
  if (!kind.normalization && (options.normalization || options.leaves_out_vectors)) {
    throw ConfigError(
        fmt::format("{}: `directions` {} draws nothing that the weights scale",
                    options.normalization ? "`normalization`" : "`leaves_out_vectors`",
                    kind.name));
  }
  if (kind.check) kind.check(named.argument, options.grid.is_plane());
  return named;
}

std::size_t centre_among(std::size_t num_points, const DirectionKind& kind) {
  return kind.is_centre_first ? 0 : num_points - 1;
}

LandscapeView::LandscapeView(const LandscapeOptions& options,
                             const NamedDirections& named,
                             const Objective& objective,
                             std::span<const Eigen::VectorXd> points,
                             std::span<const CheckpointFile> files,
                             const std::string& key,
                             const io::TensorMap* map,
                             ProgressCallback follow)
    : options_(options),
      kind_(*named.kind),
      points_(points),
      files_(files),
      centre_index_(centre_among(points.size(), kind_)),
      centre_(objective,
              finite_centre(points, files, centre_index_),
              {.seed = options.seed, .progress = std::move(follow)}),
      context_{.centre = centre_,
               .checkpoints = points,
               .files = files,
               .key = key,
               .map = map,
               .needs_second = options.grid.is_plane(),
               .seed = options.seed,
               .normalization = options.normalization.value_or(
                   kind_.normalization.value_or(Normalization::kNone)),
               .leaves_out_vectors = options.leaves_out_vectors,
               .stop = options.stop},
      prepared_(kind_.prepare(named.argument, context_)) {
  const Eigen::Index n = objective.num_parameters();
  if (options.curvature && n > kLargestAssembled) {
    throw ConfigError(
        fmt::format("`curvature` needs the whole Hessian at every point, which is for up to {} "
                    "parameters; this model has {}",
                    kLargestAssembled,
                    n));
  }
}

LandscapeDescription LandscapeView::description() const {
  return {.directions = options_.directions,
          .direction_descriptions = prepared_.descriptions,
          .direction_digests = prepared_.digests,
          .normalization = kind_.normalization ? to_string(context_.normalization) : "",
          .leaves_out_vectors = options_.leaves_out_vectors,
          .curvature = options_.curvature,
          .seed = options_.seed,
          .centre = centre_index_};
}

void LandscapeView::add_configuration(io::RunConfiguration& all) const {
  const auto add = [&all](const std::string& key, const std::string& value) {
    all.emplace_back(key, value);
  };
  add("directions", options_.directions);
  for (std::size_t i = 0; i < prepared_.files.size(); ++i) {
    add(fmt::format("sha256 of {}", prepared_.files[i].string()), prepared_.digests[i]);
  }
  add("normalization", description().normalization);
  add("leave-out-vectors", fmt::format("{}", options_.leaves_out_vectors));
  for (const auto& [name, axis] :
       {std::pair<const char*, const Eigen::VectorXd&>("alpha", options_.grid.alpha),
        {"beta", options_.grid.beta}}) {
    add(fmt::format("grid.{}", name), fmt::format("{}", axis.size()));
    if (is_framed()) {
      add(fmt::format("span.{}", name), "around the checkpoints");
      continue;
    }
    std::string bytes(reinterpret_cast<const char*>(axis.data()),
                      static_cast<std::size_t>(axis.size()) * sizeof(double));
    add(fmt::format("span.{}", name),
        fmt::format(
            "{} to {}, sha256 {}", axis[0], axis[axis.size() - 1], io::sha256_of_text(bytes)));
  }
  add("curvature", fmt::format("{}", options_.curvature));
  add("seed", fmt::format("{}", options_.seed));
}

std::vector<Variable> LandscapeView::direction_quantities() const {
  std::vector<Variable> all = detail::direction_quantities();
  all.insert(all.end(), kind_.quantities.begin(), kind_.quantities.end());
  return all;
}

std::vector<Variable> LandscapeView::scalars() const {
  std::vector<Variable> all = centre_quantities();
  const auto append = [&all](const std::vector<Variable>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  append(quadratic_model_quantities());
  if (has_barrier()) append(barrier_quantities());
  return all;
}

// Only a line from one checkpoint to another has a barrier.
bool LandscapeView::has_barrier() const {
  return prepared_.path_end.has_value() && !options_.grid.is_plane();
}

Group LandscapeView::make_directions() const {
  const Directions directions = prepared_.make();
  Group answer{.variables = direction_quantities()};
  answer.take(directions.facts);
  const Eigen::MatrixXd& d = directions.columns;
  const bool is_fine = directions.status == Status::kOk && d.allFinite();
  if (is_fine) {
    require_independent(d);
    for (Eigen::Index k = 0; k < d.cols(); ++k) {
      const std::string name = fmt::format("direction_{}", k + 1);
      answer[name].set(d.col(k));
      answer[name + "_norm"].set(detail::norm(d.col(k)));
    }
    if (d.cols() > 1) answer["direction_cosine"].set(cosine(d.col(0), d.col(1)));
    answer.set_rest_missing(Status::kNotComputed);
  } else {
    answer.set_rest_missing(directions.status == Status::kOk ? Status::kNonFinite
                                                             : directions.status);
  }
  return answer;
}

void LandscapeView::require_independent(const Eigen::MatrixXd& d) const {
  const auto refuse = [&](const std::string& what) {
    throw InputError(fmt::format(
        "{}: `directions` {}: {}", files_[centre_index_].path.string(), options_.directions, what));
  };
  for (Eigen::Index k = 0; k < d.cols(); ++k) {
    if (!(detail::norm(d.col(k)) > 0)) {
      refuse(fmt::format(
          "direction_{} ({}) is zero", k + 1, prepared_.descriptions[static_cast<std::size_t>(k)]));
    }
  }
  constexpr double kParallel = 1 - 1e-12;
  if (d.cols() > 1 && !(std::abs(cosine(d.col(0), d.col(1))) < kParallel)) {
    refuse("the two directions are parallel, so there is no plane; ask for `grid` Nx1");
  }
}

FoundPlane LandscapeView::find_plane(const Group& directions) const {
  const Eigen::VectorXd first = vector_in(directions, "direction_1");
  const bool has_second = directions["direction_2"].status() == Status::kOk;
  Plane plane{points_[centre_index_], Eigen::MatrixXd(first.size(), has_second ? 2 : 1)};
  plane.directions.col(0) = first;
  if (has_second) plane.directions.col(1) = vector_in(directions, "direction_2");
  std::vector<Plane::Projection> places = places_on(plane, points_);
  FoundPlane found{std::move(plane), std::move(places), options_.grid};
  if (is_framed()) found.grid = framed(found.grid, found.places);
  // For other kinds, the plane belongs to its centre; the positions of the points are reported
  // separately.
  if (kind_.frames_trajectory) found.left_out = left_out_text(found.grid, found.places);
  return found;
}

Group LandscapeView::measure_centre(const Plane& plane) {
  const bool with_spectrum = options_.curvature || centre_.theta().size() <= kSmallSpectrum;
  return hesscope::measure_centre(centre_, plane, with_spectrum);
}

Surface LandscapeView::make_surface(const FoundPlane& found) const {
  return {centre_.objective(),
          found.plane,
          found.grid,
          {.curvature = options_.curvature,
           .num_threads = options_.num_threads,
           .stop = stop_requested_by(options_.stop)}};
}

LandscapeParts LandscapeView::assemble(const Group& directions,
                                       std::span<const CheckpointSummary> checkpoints,
                                       std::span<const CheckpointRun> runs,
                                       const FoundPlane* found,
                                       const Group* centre,
                                       Eigen::Index num_tiles,
                                       const std::function<Group(Eigen::Index)>& tile) const {
  const Status status = directions["direction_1"].status();
  const std::vector<Plane::Projection> nowhere(checkpoints.size(), {kNaN, kNaN, kNaN});
  LandscapeParts parts{.surface = join_tiles(status, num_tiles, tile),
                       .trajectory = trajectory_of(
                           checkpoints, runs, found == nullptr ? nowhere : found->places, status),
                       .directions = directions,
                       .scalars = {.variables = scalars()}};
  Group& facts = parts.scalars;
  if (found != nullptr) {
    facts.take(*centre);
    const std::vector<double>& losses = parts.surface.variables.front().reals();
    const double loss = checkpoints[centre_index_].loss;
    facts.take(measure_quadratic_model(facts, loss, found->grid, losses));
    if (has_barrier()) {
      // On this surface: with this model and the centre's buffers.
      const double end = centre_.objective().value(points_[*prepared_.path_end]);
      facts.take(measure_barrier(found->grid.alpha, losses, loss, end));
    }
  }
  facts.set_rest_missing(status);
  return parts;
}

// The tiles as one surface; everything is missing if there are no directions.
Group LandscapeView::join_tiles(Status status,
                                Eigen::Index num_tiles,
                                const std::function<Group(Eigen::Index)>& tile) const {
  Group whole{.variables = surface_quantities(options_.curvature)};
  if (status != Status::kOk) {
    const auto count = static_cast<std::size_t>(options_.grid.num_points());
    for (Variable& variable : whole.variables) {
      variable.set_numbers(std::vector<double>(count, kNaN), std::vector<Status>(count, status));
    }
    return whole;
  }
  for (Variable& variable : whole.variables) variable.set_numbers({}, {});
  for (Eigen::Index k = 0; k < num_tiles; ++k) whole.append(tile(k));
  return whole;
}

}  // namespace hesscope::detail
