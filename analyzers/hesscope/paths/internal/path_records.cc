// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <hesscope/analysis/internal/checkpoint_records.h>
#include <hesscope/analyzers/internal/counted_index.h>
#include <hesscope/analyzers/internal/explained_zeros.h>
#include <hesscope/analyzers/internal/unexplained_inverse.h>
#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/paths/alignment.h>
#include <hesscope/paths/internal/band_maxima.h>
#include <hesscope/paths/internal/line_excess.h>
#include <hesscope/paths/internal/path_quantities.h>
#include <hesscope/paths/internal/path_records.h>
#include <hesscope/paths/straight_path.h>
#include <hesscope/spectra/critical_point.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Largest change of the loss that still counts as rounding, relative to the losses on the path.
constexpr double kLargestError = 1e-8;
// Tolerance of the gradient at a pass, relative to saddle_gradient's unit.
constexpr double kPassTolerance = 1e-12;
// Enough for passes where the Hessian is nearly singular.
constexpr int kMaxNewtonSteps = 300;

Variable texts_named(const char* name, std::vector<std::string> words) {
  return {.name = name,
          .type = VariableType::kText,
          .values = std::move(words),
          .statuses = {Status::kOk}};
}

Variable numbers_of(const char* name, const MatrixXd& values) {
  return {.name = name,
          .values = std::vector<double>(values.data(), values.data() + values.size()),
          .statuses = {Status::kOk}};
}

Variable number_of(const char* name, double value) {
  return {.name = name, .values = std::vector<double>{value}, .statuses = {Status::kOk}};
}

MatrixXd matrix_in(const Group& record, const std::string& name, Index cols) {
  const auto values = vector_in(record, name);
  return values.reshaped(values.size() / cols, cols);
}

void set_barrier(const StraightPath& path, const char* barrier, const char* place, Group& record) {
  record[barrier].set(path.barrier, path.status);
  record[place].set(path.barrier_place, path.status);
}

void set_losses(const StraightPath& path, Variable& variable) {
  std::vector<Status> statuses;
  for (const double loss : path.losses) {
    statuses.push_back(std::isfinite(loss) ? Status::kOk : Status::kNonFinite);
  }
  variable.set_numbers({path.losses.begin(), path.losses.end()}, std::move(statuses));
}

// The result of Newton's method from a point on the band.
struct PassSearch {
  BandMaximum start;
  CriticalPoint found = {};
  double unit = kNaN;               // of the gradient
  Status status = Status::kFailed;  // of all numbers about the pass

  bool is_found() const { return found.outcome == CriticalPointOutcome::kConverged; }

  double distance() const { return norm(found.theta - start.theta); }

  // A point that is further away than the distance between the band's points belongs to another
  // part of the landscape.
  bool is_elsewhere() const { return is_found() && !(distance() <= start.spacing); }
};

PassSearch search_pass(const Objective& objective,
                       const BandMaximum& start,
                       const ProgressCallback& progress) {
  PassSearch search{.start = start};
  search.found.outcome = CriticalPointOutcome::kNonFinite;
  PointAnalysis at(objective, start.theta, {.method = SpectrumMethod::kDense});
  const MatrixXd* hessian = at.hessian();
  if (hessian == nullptr) {
    search.status = at.hessian_status();
    return search;
  }
  search.unit = std::max(mean_sample_gradient(objective, at.theta()),
                         norm(*hessian) * detail::norm(at.theta()));
  at.release();
  const double tolerance =
      std::max(kPassTolerance * search.unit, std::numeric_limits<double>::min());
  search.found =
      find_critical_point(objective,
                          at.theta(),
                          {.gradient_tolerance = tolerance, .max_iterations = kMaxNewtonSteps},
                          progress);
  search.status = search.is_found()                                          ? Status::kOk
                  : search.found.outcome == CriticalPointOutcome::kNonFinite ? Status::kNonFinite
                                                                             : Status::kFailed;
  return search;
}

// The highest pass on the band: the one found from its highest point, or one found from another
// maximum that is higher than that pass. A pass has the lowest loss of all ways across, and the
// band is one of these ways, so a pass is no higher than the point from which it was searched.
PassSearch highest_pass(const Objective& objective,
                        const std::vector<BandMaximum>& maxima,
                        const ProgressCallback& progress) {
  const auto count = static_cast<double>(maxima.size());
  PassSearch best;
  for (std::size_t k = 0; k < maxima.size(); ++k) {
    const double loss = maxima[k].loss;
    const double rounding = kLossRounding * std::abs(loss);
    if (k > 0 && !(loss > best.found.loss + rounding)) break;
    const auto place = static_cast<double>(k);
    PassSearch search =
        search_pass(objective, maxima[k], part_of(progress, place / count, (place + 1) / count));
    if (!search.is_found() || search.is_elsewhere()) return search;
    const bool is_higher =
        search.found.loss > best.found.loss && search.found.loss <= loss + rounding;
    if (k == 0 || is_higher) best = std::move(search);
  }
  return best;
}

// Describes the pass, after Newton's method has converged.
void describe_pass(const Objective& objective,
                   const CriticalPoint& found,
                   double unit,
                   const ProgressCallback& progress,
                   Group& record) {
  PointAnalysis at(objective, found.theta, {.method = SpectrumMethod::kDense});
  const UnexplainedHessian hessian =
      unexplained_hessian(at, gradient_error(unit) + found.gradient_norm);
  if (hessian.status != Status::kOk) {
    record.set_rest_missing(hessian.status);
    return;
  }
  record["saddle_num_explained"].set_count(hessian.num_explained());
  const UnexplainedInverse inverse(at, hessian, {}, found.rest);
  if (inverse.status() != Status::kOk) {
    record.set_rest_missing(inverse.status());
    return;
  }
  const CountedIndex index = counted_index(hessian, progress, inverse.largest_zero());
  if (index.status == Status::kOk) {
    record["saddle_index"].set_count(index.num_negative);
    record["saddle_num_zero"].set_count(index.num_zero);
    record["saddle_lambda_min"].set(
        index.lambda_min, std::isnan(index.lambda_min) ? Status::kNotComputed : Status::kOk);
  }
  record.set_rest_missing(index.status);
}

}  // namespace

Group alignment_record(const Objective& objective,
                       const VectorXd& first,
                       const VectorXd& second,
                       bool aligns,
                       const ProgressCallback& progress) {
  Group record{.variables = alignment_quantities()};
  const double unaligned = norm(first - second);
  record["unaligned_distance"].set(unaligned);
  const auto take_as_it_is = [&](Status status) {
    record["distance"].set(unaligned);
    record["aligned_parameters"].set(second);
    record.set_rest_missing(status);
  };
  std::vector<std::string> families;
  std::vector<std::string> left_out;
  if (!aligns) {
    take_as_it_is(Status::kNotComputed);
  } else {
    const AlignmentMaps maps = alignment_maps(objective);
    const Alignment found = align(objective, maps, first, second, progress);
    for (const InterchangeableUnits& units : maps.units) {
      families.push_back((units.flips.empty() ? "units of " : "units with signs of ") + units.name);
    }
    for (const Invariance& family : maps.invariances) {
      const bool is_used = std::ranges::find(found.left_out, family.name) == found.left_out.end();
      if (is_used) families.push_back(family.name);
    }
    left_out = found.left_out;
    // If a network fits its data, the loss itself is rounding; halfway to the first point it is
    // not.
    const double loss = objective.value(second);
    const double scale =
        std::max({std::abs(loss), std::abs(objective.value((first + second) / 2)), 1e-300});
    const double error = std::abs(objective.value(found.theta) - loss) / scale;
    if (!std::isfinite(loss)) {
      take_as_it_is(Status::kNonFinite);  // cannot be checked
    } else if (!(error <= kLargestError)) {
      take_as_it_is(Status::kFailed);
    } else {
      record["distance"].set(norm(first - found.theta));
      record["num_moved"].set_count(found.num_moved);
      record["num_flipped"].set_count(found.num_flipped);
      record["alignment_error"].set(error);
      record["aligned_parameters"].set(found.theta);
    }
  }
  record.add(texts_named(kFamilies, std::move(families)));
  record.add(texts_named(kLeftOut, std::move(left_out)));
  return record;
}

Group straight_record(const Objective& objective,
                      const VectorXd& first,
                      const VectorXd& aligned,
                      const VectorXd* unaligned,
                      Index num_places) {
  Group record{.variables = straight_quantities()};
  const StraightPath path = straight_path(objective, first, aligned, num_places);
  set_losses(path, record["straight_loss"]);
  set_barrier(path, "straight_barrier", "straight_barrier_place", record);
  if (unaligned == nullptr) {
    const auto count = static_cast<std::size_t>(num_places);
    record["unaligned_loss"].set_numbers(std::vector<double>(count, kNaN),
                                         std::vector<Status>(count, Status::kNotComputed));
  } else {
    const StraightPath other = straight_path(objective, first, *unaligned, num_places);
    set_losses(other, record["unaligned_loss"]);
    set_barrier(other, "unaligned_barrier", "unaligned_barrier_place", record);
  }
  record.set_rest_missing(Status::kNotComputed);
  return record;
}

Group band_record(const BandState& state) {
  return {.variables = {numbers_of("images", state.images),
                        numbers_of("velocities", state.velocities),
                        numbers_of("losses", state.losses),
                        number_of("curvature", state.curvature),
                        number_of("first_force", state.first_force),
                        number_of("force", state.force),
                        number_of("time_step", state.time_step),
                        number_of("mixing", state.mixing),
                        number_of("num_downhill", static_cast<double>(state.num_downhill)),
                        number_of("num_steps", static_cast<double>(state.num_steps)),
                        number_of("climbing", static_cast<double>(state.climbing)),
                        number_of("num_vain_climbs", static_cast<double>(state.num_vain_climbs)),
                        number_of("outcome", static_cast<double>(state.outcome))}};
}

BandState band_in(const Group& record) {
  const auto number = [&](const char* name) { return record[name].reals().front(); };
  BandState state;
  state.losses = vector_in(record, "losses");
  state.images = matrix_in(record, "images", state.losses.size());
  state.velocities = matrix_in(record, "velocities", state.losses.size());
  state.curvature = number("curvature");
  state.first_force = number("first_force");
  state.force = number("force");
  state.time_step = number("time_step");
  state.mixing = number("mixing");
  state.num_downhill = static_cast<std::int64_t>(number("num_downhill"));
  state.num_steps = static_cast<std::int64_t>(number("num_steps"));
  state.climbing = static_cast<Index>(number("climbing"));
  state.num_vain_climbs = static_cast<std::int64_t>(number("num_vain_climbs"));
  state.outcome = static_cast<BandOutcome>(static_cast<int>(number("outcome")));
  return state;
}

Group band_summary(const BandState& state) {
  Group record{.variables = band_quantities()};
  record["length"].set(state.arc_lengths()[state.images.cols() - 1]);
  const Index last = state.losses.size() - 1;
  if (state.losses.allFinite()) {
    record["band_barrier"].set(state.losses.maxCoeff() -
                               std::max(state.losses[0], state.losses[last]));
  } else {
    record["band_barrier"].set_missing(Status::kNonFinite);
  }
  record["band_outcome"].set_flag(static_cast<std::int8_t>(state.outcome));
  record["band_steps"].set_count(state.num_steps);
  const bool is_finite = state.outcome != BandOutcome::kNonFinite;
  record["band_force"].set(state.first_force > 0 ? state.force / state.first_force : 0.0,
                           is_finite ? Status::kOk : Status::kNonFinite);
  return record;
}

Group image_record(const Objective& objective,
                   const BandState& state,
                   Index image,
                   bool has_spectrum,
                   const ProgressCallback& progress) {
  PointAnalysis at(objective, state.images.col(image), {.progress = progress});
  Group record{.variables = image_quantities(has_spectrum, at.is_assembled())};
  record["arc_length"].set(state.arc_lengths()[image]);
  record["parameters"].set(at.theta());
  const double loss = at.loss();
  record["loss"].set(loss, std::isfinite(loss) ? Status::kOk : Status::kNonFinite);
  if (at.status() != Status::kOk) {
    record.set_rest_missing(at.status());
    return record;
  }
  const VectorXd tangent = ElasticBand::tangents(state).col(image);
  record["gradient_norm"].set(norm(at.gradient()));
  record["force"].set(norm(at.gradient() - at.gradient().dot(tangent) * tangent));
  record["tangent_curvature"].set(tangent.dot(objective.hessian_times(at.theta(), tangent).col(0)));
  if (!has_spectrum) return record;
  const Spectrum& spectrum = at.spectrum();
  record["lambda_min"].set(spectrum.smallest.value, spectrum.status);
  record["lambda_max"].set(spectrum.largest.value, spectrum.status);
  if (spectrum.proof == Proof::kConverged) {
    record["lambda_min"].is_proved = record["lambda_max"].is_proved = false;
  }
  if (spectrum.status == Status::kOk && spectrum.num_negative >= 0) {
    record["num_negative"].set_count(spectrum.num_negative);
    record["num_zero"].set_count(spectrum.num_zero);
  }
  if (spectrum.eigenvalues.size() > 0) record["eigenvalues"].set(spectrum.eigenvalues);
  record.set_rest_missing(spectrum.status == Status::kOk ? Status::kNotComputed : spectrum.status);
  return record;
}

Group saddle_record(const Objective& objective,
                    const BandState& state,
                    const ProgressCallback& progress) {
  Group record{.variables = saddle_quantities()};
  const Index last = state.losses.size() - 1;
  const double higher_end = std::max(state.losses[0], state.losses[last]);
  if (state.outcome == BandOutcome::kNonFinite) {
    record["saddle_outcome"].set_flag(kNotSearched);
    record.set_rest_missing(Status::kNonFinite);
    return record;
  }
  const std::vector<BandMaximum> maxima = band_maxima(objective, state);
  if (maxima.empty()) {
    record["barrier"].set(0);
    record["saddle_outcome"].set_flag(kNoPass);
    record.set_rest_missing(Status::kUndefinedNoPass);
    return record;
  }
  if (objective.num_parameters() > kLargestAssembled) {
    record["saddle_arc_length"].set(maxima.front().arc_length);
    record["saddle_outcome"].set_flag(kNotSearched);
    record.set_rest_missing(Status::kNotComputed);
    return record;
  }
  const PassSearch pass = highest_pass(objective, maxima, part_of(progress, 0, 0.9));
  const CriticalPoint& found = pass.found;
  record["saddle_arc_length"].set(pass.start.arc_length);
  record["saddle_outcome"].set_flag(pass.is_elsewhere() ? kElsewhere
                                                        : static_cast<std::int8_t>(found.outcome));
  if (!std::isnan(pass.unit)) {
    record["saddle_gradient"].set(pass.unit > 0 ? found.gradient_norm / pass.unit : 0.0);
  }
  if (!pass.is_found()) {
    record.set_rest_missing(pass.status);
    return record;
  }
  record["saddle_loss"].set(found.loss);
  record["saddle_parameters"].set(found.theta);
  record["saddle_distance"].set(pass.distance());
  if (pass.is_elsewhere()) {
    for (const char* name : {"barrier", "barrier_from_first", "barrier_from_second"}) {
      record[name].set_missing(Status::kFailed);
    }
  } else {
    record["barrier"].set(std::max(0.0, found.loss - higher_end));
    record["barrier_from_first"].set(found.loss - state.losses[0]);
    record["barrier_from_second"].set(found.loss - state.losses[last]);
  }
  describe_pass(objective, found, pass.unit, part_of(progress, 0.9, 1), record);
  return record;
}

}  // namespace hesscope::detail
