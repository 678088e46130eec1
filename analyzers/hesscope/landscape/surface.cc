// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/landscape/surface.h>

namespace hesscope {
namespace {

// Work of a tile, which takes seconds: parameters x samples, with curvature x parameters again.
constexpr double kWorkOfTile = 1 << 29;
constexpr Eigen::Index kFewestPoints = 8;
constexpr Eigen::Index kMostSurfacePoints = 1024;

constexpr double kMemoryOfPoints = 2.0 * (1 << 30);

Eigen::Index points_per_tile(const Objective& objective, bool curvature) {
  const auto n = static_cast<double>(objective.num_parameters());
  const auto samples = static_cast<double>(objective.num_samples());
  const double points = kWorkOfTile / (n * samples * (curvature ? n : 1));
  return static_cast<Eigen::Index>(std::clamp(
      points, static_cast<double>(kFewestPoints), static_cast<double>(kMostSurfacePoints)));
}

}  // namespace

// Each point has its own matrices. Computing points on several threads leaves no thread idle if
// there are few samples; if there are many, the objective's own parallel loops find the threads
// taken.
int Surface::points_at_once(const Objective& objective, const Options& options) {
  const auto n = static_cast<double>(objective.num_parameters());
  const double bytes = 4 * n * (options.curvature ? n : 1) * sizeof(double);
  const double most = Executor(options.num_threads).num_threads();
  return static_cast<int>(std::clamp(kMemoryOfPoints / bytes, 1.0, most));
}

std::vector<Variable> surface_quantities(bool curvature) {
  std::vector<Variable> all = {
      {.name = "loss",
       .long_name = "loss on the plane",
       .definition = "mean loss over the data set at the centre + alpha direction_1 + beta "
                     "direction_2; NaN with the status non_finite where it is not finite",
       .references = {papers::kLi2018}}};
  if (!curvature) return all;
  const auto add = [&all](const std::string& name,
                          const std::string& long_name,
                          const std::string& definition,
                          VariableType type = VariableType::kDouble) {
    all.push_back({.name = name, .type = type, .long_name = long_name, .definition = definition});
  };
  add("gradient_norm",
      "Euclidean norm of the gradient on the plane",
      "of all derivatives, not only those in the plane");
  add("lambda_min",
      "smallest eigenvalue of the Hessian on the plane",
      "of the whole Hessian, by its full decomposition");
  add("lambda_max",
      "largest eigenvalue of the Hessian on the plane",
      "of the whole Hessian, by its full decomposition");
  add("index",
      "number of negative eigenvalues of the Hessian on the plane",
      "eigenvalues below -(n + 10) eps times the spectral norm",
      VariableType::kInt64);
  for (const char* ij : {"11", "12", "22"}) {
    add(fmt::format("plane_hessian_{}", ij),
        fmt::format("second derivative of the loss in the plane ({})", ij),
        fmt::format("direction_{}^T H direction_{}, the directions not normalised", ij[0], ij[1]));
  }
  return all;
}

Surface::Surface(const Objective& objective, Plane plane, Grid grid, const Options& options)
    : objective_(&objective),
      plane_(std::move(plane)),
      grid_(std::move(grid)),
      options_(options),
      quantities_(surface_quantities(options.curvature)),
      points_per_tile_(hesscope::points_per_tile(objective, options.curvature)),
      executor_(points_at_once(objective, options), options.stop) {
  require_grid("Surface", grid_);
  const Eigen::Index n = objective.num_parameters();
  const Eigen::Index num_directions = plane_.directions.cols();
  if (plane_.centre.size() != n || plane_.directions.rows() != n || num_directions < 1 ||
      num_directions > 2 || (grid_.is_plane() && num_directions < 2)) {
    throw PreconditionError(fmt::format(
        "Surface: expected one direction of {} numbers, or two for a grid that leaves a "
        "line, found {} of {} and a centre of {} on a grid of {} x {}",
        n,
        num_directions,
        plane_.directions.rows(),
        plane_.centre.size(),
        grid_.alpha.size(),
        grid_.beta.size()));
  }
}

Eigen::Index Surface::num_tiles() const {
  return detail::ceil_div(grid_.num_points(), points_per_tile_);
}

Eigen::Index Surface::size_of(Eigen::Index tile) const {
  if (tile < 0 || tile >= num_tiles()) {
    throw PreconditionError(fmt::format("Surface: there is no tile {} of {}", tile, num_tiles()));
  }
  return std::min(points_per_tile_, grid_.num_points() - tile * points_per_tile_);
}

std::vector<Surface::Value> Surface::evaluate(Eigen::Index point,
                                              const std::function<void(double)>& advance) const {
  const auto value_of = [&](double value, Status status = Status::kOk) -> Value {
    if (status == Status::kOk && !std::isfinite(value)) status = Status::kNonFinite;
    return {status == Status::kOk ? value : kNaN, status};
  };
  const Eigen::VectorXd theta = plane_.at(grid_.alpha_of(point), grid_.beta_of(point));
  if (!options_.curvature) {
    const double value = objective_->value(theta);
    advance(1);
    return {value_of(value)};
  }
  double done = 0;
  const auto advance_to = [&](double fraction) {
    advance(fraction - std::exchange(done, fraction));
    return true;
  };
  PointAnalysis at(*objective_, theta, {.method = SpectrumMethod::kDense, .progress = advance_to});
  std::vector<Value> values = {value_of(at.loss())};
  if (values[0].status != Status::kOk) {
    values.resize(quantities_.size(), {kNaN, Status::kNonFinite});
    advance_to(1);
    return values;
  }
  const Spectrum& spectrum = at.spectrum();
  values.push_back(value_of(detail::norm(at.gradient())));
  values.push_back(value_of(spectrum.smallest.value, spectrum.status));
  values.push_back(value_of(spectrum.largest.value, spectrum.status));
  values.push_back(value_of(static_cast<double>(spectrum.num_negative), spectrum.status));
  if (const Eigen::MatrixXd* h = at.hessian()) {
    const Eigen::MatrixXd& d = plane_.directions;
    const Eigen::MatrixXd in_plane = d.transpose() * (*h * d);
    values.push_back(value_of(in_plane(0, 0)));
    if (d.cols() > 1) {
      values.push_back(value_of(in_plane(0, 1)));
      values.push_back(value_of(in_plane(1, 1)));
    }
    values.resize(quantities_.size(), {kNaN, Status::kNotComputed});
  } else {
    values.resize(quantities_.size(), {kNaN, at.hessian_status()});
  }
  advance_to(1);
  return values;
}

Group Surface::tile(Eigen::Index tile, const std::function<void(double)>& advance) const {
  const Eigen::Index count = size_of(tile);
  const Eigen::Index first = tile * points_per_tile_;
  std::mutex mutex;
  const auto guarded = [&](double points) {
    const std::lock_guard lock(mutex);
    if (advance) advance(points);
  };
  std::vector<std::vector<Value>> points(static_cast<std::size_t>(count));
  const auto compute_at = [&](Eigen::Index i) {
    points[static_cast<std::size_t>(i)] = evaluate(first + i, guarded);
  };
  if (executor_.num_threads() > 1) {
    executor_.for_each(count, compute_at);
  } else {
    for (Eigen::Index i = 0; i < count; ++i) compute_at(i);
  }
  Group answer{.variables = quantities_};
  for (std::size_t k = 0; k < quantities_.size(); ++k) {
    std::vector<double> values;
    std::vector<Status> statuses;
    for (const std::vector<Value>& point : points) {
      values.push_back(point[k].value);
      statuses.push_back(point[k].status);
    }
    answer.variables[k].set_numbers(values, std::move(statuses));
  }
  return answer;
}

}  // namespace hesscope
