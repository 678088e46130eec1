// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>

#include <fmt/format.h>

#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/landscape/faithfulness.h>

namespace hesscope {
namespace {

using detail::Wide;

// A number of the record; NaN if it is missing.
double number_in(const Group& record, const std::string& name) {
  const Variable* const variable = record.find(name);
  return variable == nullptr ? kNaN : variable->number();
}

}  // namespace

std::vector<Variable> centre_quantities() {
  std::vector<Variable> all;
  const auto add = [&all](const char* name, const char* long_name, const char* definition) {
    all.push_back({.name = name, .long_name = long_name, .definition = definition});
  };
  add("slope_1", "slope of the loss at the centre along direction_1", "g^T direction_1");
  add("slope_2", "slope of the loss at the centre along direction_2", "g^T direction_2");
  add("curvature_11", "second derivative at the centre (11)", "direction_1^T H direction_1");
  add("curvature_12", "second derivative at the centre (12)", "direction_1^T H direction_2");
  add("curvature_22", "second derivative at the centre (22)", "direction_2^T H direction_2");
  add("rayleigh_1",
      "curvature at the centre along direction_1",
      "d^T H d / d^T d, d = direction_1");
  add("rayleigh_2",
      "curvature at the centre along direction_2",
      "d^T H d / d^T d, d = direction_2");
  add("plane_lambda_min",
      "smallest curvature at the centre within the plane",
      "smallest eigenvalue of Q^T H Q, the columns of Q an orthonormal basis of the plane");
  add("plane_lambda_max",
      "largest curvature at the centre within the plane",
      "largest eigenvalue of Q^T H Q, the columns of Q an orthonormal basis of the plane");
  add("centre_lambda_min",
      "smallest eigenvalue of the Hessian at the centre",
      "of the whole Hessian; not_computed for more than 2,000 parameters unless curvature is "
      "asked for");
  add("centre_lambda_max",
      "largest eigenvalue of the Hessian at the centre",
      "of the whole Hessian; not_computed where centre_lambda_min is not");
  return all;
}

Group measure_centre(PointAnalysis& centre, const Plane& plane, bool with_spectrum) {
  Group record{.variables = centre_quantities()};
  if (centre.status() != Status::kOk) {
    record.set_rest_missing(centre.status());
    return record;
  }
  const Eigen::MatrixXd& d = plane.directions;
  // With unit directions, so that long ones do not overflow unnecessarily.
  const Eigen::MatrixXd q = plane.basis();
  const Eigen::MatrixXd to_basis = q.transpose() * d;
  const Eigen::MatrixXd products = centre.objective().hessian_times(centre.theta(), q);
  const Eigen::MatrixXd in_basis = q.transpose() * products;
  const Eigen::MatrixXd in_plane = to_basis.transpose() * in_basis * to_basis;
  Eigen::VectorXd slopes = d.transpose() * centre.gradient();
  for (Eigen::Index k = 0; k < d.cols(); ++k) {
    const std::string index = std::to_string(k + 1);
    if (!detail::is_in_safe_range(slopes[k])) {
      slopes[k] = detail::wide_dot(d.col(k), centre.gradient()).value();
    }
    const Eigen::VectorXd unit = detail::normalized(to_basis.col(k));
    record["slope_" + index].set(slopes[k]);
    record[fmt::format("curvature_{0}{0}", index)].set(in_plane(k, k));
    record["rayleigh_" + index].set(unit.dot(in_basis * unit));
  }
  if (d.cols() > 1) record["curvature_12"].set((in_plane(0, 1) + in_plane(1, 0)) / 2);
  if (in_basis.allFinite()) {
    const Eigen::MatrixXd symmetric = (in_basis + in_basis.transpose()) / 2;
    const Spectrum of_plane = dense_spectrum(symmetric);
    record["plane_lambda_min"].set(of_plane.smallest.value, of_plane.status);
    record["plane_lambda_max"].set(of_plane.largest.value, of_plane.status);
  } else {
    record["plane_lambda_min"].set_missing(Status::kNonFinite);
    record["plane_lambda_max"].set_missing(Status::kNonFinite);
  }
  if (with_spectrum) {
    const Spectrum& spectrum = centre.spectrum();
    record["centre_lambda_min"].set(spectrum.smallest.value, spectrum.status);
    record["centre_lambda_max"].set(spectrum.largest.value, spectrum.status);
    if (spectrum.proof == Proof::kConverged) {
      record["centre_lambda_min"].is_proved = false;
      record["centre_lambda_max"].is_proved = false;
    }
  }
  record.set_rest_missing(Status::kNotComputed);
  return record;
}

std::vector<Variable> quadratic_model_quantities() {
  const std::string words =
      " of |loss - (f + g^T d + d^T H d / 2)| over the grid's points with a finite loss, with f, g "
      "and H at the centre and d = alpha direction_1 + beta direction_2";
  return {{.name = "quadratic_error_max",
           .long_name = "largest error of the quadratic model at the centre",
           .definition = "maximum" + words},
          {.name = "quadratic_error_rms",
           .long_name = "root mean square error of the quadratic model at the centre",
           .definition = "root mean square" + words}};
}

Group measure_quadratic_model(const Group& centre,
                              double loss,
                              const Grid& grid,
                              std::span<const double> losses) {
  const auto of = [&centre](const char* name) { return number_in(centre, name); };
  const bool has_second = grid.is_plane();
  const double slope_2 = has_second ? of("slope_2") : 0;
  const double h_12 = has_second ? of("curvature_12") : 0;
  const double h_22 = has_second ? of("curvature_22") : 0;
  const double slope_1 = of("slope_1");
  const double h_11 = of("curvature_11");
  Eigen::VectorXd errors(static_cast<Eigen::Index>(losses.size()));
  Eigen::Index count = 0;
  for (Eigen::Index i = 0; i < errors.size(); ++i) {
    const double seen = losses[static_cast<std::size_t>(i)];
    if (!std::isfinite(seen)) continue;
    const Wide a = grid.alpha_of(i);  // squares of long distances may exceed double
    const Wide b = grid.beta_of(i);
    const Wide linear = a * slope_1 + b * slope_2;
    const Wide quadratic = (a * a * h_11 + 2.0 * a * b * h_12 + b * b * h_22) / 2.0;
    errors[count++] = (seen - (loss + linear + quadratic)).value();
  }
  Group record{.variables = quadratic_model_quantities()};
  if (count == 0 || !errors.head(count).allFinite()) {
    record.set_rest_missing(Status::kNonFinite);
    return record;
  }
  record["quadratic_error_max"].set(errors.head(count).cwiseAbs().maxCoeff());
  record["quadratic_error_rms"].set(detail::norm(errors.head(count)) /
                                    std::sqrt(static_cast<double>(count)));
  return record;
}

std::vector<Variable> barrier_quantities() {
  return {
      {.name = "barrier_height",
       .long_name = "barrier between the two checkpoints",
       .definition =
           "maximum over the grid's t = alpha in [0, 1] of loss(t) - ((1 - t) loss(0) + t "
           "loss(1)), with loss(0) and loss(1) at the checkpoints' parameters and, as everywhere "
           "on the surface, with the centre's buffers; only for a line between two checkpoints",
       .references = {papers::kFrankle}},
      {.name = "barrier_alpha",
       .long_name = "where the barrier is highest",
       .definition = "the first alpha at which barrier_height is attained"}};
}

Group measure_barrier(const Eigen::VectorXd& alpha,
                      std::span<const double> losses,
                      double loss_at_0,
                      double loss_at_1) {
  Group record{.variables = barrier_quantities()};
  for (Eigen::Index i = 0; i < alpha.size(); ++i) {
    const double t = alpha[i];
    if (!(t >= 0 && t <= 1)) continue;
    const double height =
        losses[static_cast<std::size_t>(i)] - ((1 - t) * loss_at_0 + t * loss_at_1);
    if (!std::isfinite(height)) {
      record["barrier_height"].set_missing(Status::kNonFinite);
      record["barrier_alpha"].set_missing(Status::kNonFinite);
      return record;
    }
    if (!record["barrier_height"].is_said() || height > number_in(record, "barrier_height")) {
      record["barrier_height"].set(height);
      record["barrier_alpha"].set(t);
    }
  }
  record.set_rest_missing(Status::kNotComputed);
  return record;
}

}  // namespace hesscope
