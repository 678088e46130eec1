// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <hesscope/analyzers/internal/explained_zeros.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/core/internal/random_numbers.h>
#include <hesscope/objective/flat_directions.h>
#include <hesscope/objective/gradient_blocks.h>
#include <hesscope/objective/internal/nearby_point.h>
#include <hesscope/objective/invariance_search.h>

namespace hesscope::detail {
namespace {

const GraphObjective* searched(const Objective& objective) {
  const auto* graph = dynamic_cast<const GraphObjective*>(&objective);
  return graph != nullptr && graph->model().searches_invariances ? graph : nullptr;
}

bool has_zero_row(const Eigen::MatrixXd& hessian) {
  return (hessian.cwiseAbs().colwise().maxCoeff().array() == 0).any();
}

// The largest |derivative| of a sample's loss along each parameter. Derivatives up to `rounding`
// |g_i|, with the sample's gradient g_i, count as 0.
Eigen::VectorXd sample_slopes(const Objective& objective,
                              const Eigen::VectorXd& theta,
                              double rounding) {
  Eigen::VectorXd slopes = Eigen::VectorXd::Zero(theta.size());
  for_gradient_blocks(
      objective,
      theta,
      objective.all_samples(),
      [&](const Eigen::MatrixXd& gradients, SampleRange /*samples*/) {
        for (const auto gradient : gradients.colwise()) {
          const double error = rounding * norm(gradient);
          const Eigen::ArrayXd sizes = gradient.array().abs();
          slopes = slopes.array().max((sizes > error).select(sizes, 0.0)).matrix().eval();
        }
      });
  return slopes;
}

// Numbers that are zero at theta only because theta is special are not zero at theta + p. The step
// p is long enough for terms up to the fifth order to rise above rounding. It is short enough for
// relu units to stay dead if they are dead by more than a thousandth of their weights.
class Nearby {
 public:
  Nearby(const Objective& objective, const Eigen::VectorXd& theta)
      : objective_(&objective),
        point_(nearby_point(objective, theta, kStep, engine_)),
        direction_(standard_normal(theta.size(), 1, engine_)) {}

  // H(theta + p) x for a random x; entry i is zero if row i of H is. It is zero only to rounding,
  // because symmetries cancel exactly at special points only.
  Eigen::VectorXd rows() const {
    Eigen::VectorXd product = objective_->hessian_times(point_, direction_);
    // Numbers that are not finite do not show that anything is zero.
    if (!product.allFinite()) return Eigen::VectorXd::Ones(product.size());
    const double error = kRounding * norm(product);
    return (product.array().abs() <= error).select(0.0, product);
  }

  Eigen::VectorXd slopes() const { return sample_slopes(*objective_, point_, kRounding); }

 private:
  static constexpr double kStep = 1e-3;
  static constexpr double kRounding = 16 * kEpsilon;

  const Objective* objective_;
  std::mt19937_64 engine_{1};
  Eigen::VectorXd point_;
  Eigen::VectorXd direction_;
};

// How far H v may be off for a unit vector v: the effect of rounding theta, and of the order of
// operations.
double product_error(const Objective& objective,
                     const Eigen::VectorXd& theta,
                     const Eigen::MatrixXd& hessian,
                     const Eigen::VectorXd& v) {
  constexpr int kPoints = 4;
  constexpr double kMargin = 4.0;
  std::mt19937_64 engine(1);
  const Eigen::VectorXd product = hessian * v;
  double largest = 0.0;
  for (int k = 0; k < kPoints; ++k) {
    const Eigen::VectorXd point = nearby_point(objective, theta, kEpsilon, engine);
    const double change = norm(objective.hessian_times(point, v) - product);
    if (!std::isfinite(change)) return 0.0;  // inconclusive
    largest = std::max(largest, change);
  }
  return kMargin * largest;
}

}  // namespace

double mean_sample_gradient(const Objective& objective, const Eigen::VectorXd& theta) {
  double sum = 0;
  for_gradient_blocks(objective,
                      theta,
                      objective.all_samples(),
                      [&](const Eigen::MatrixXd& gradients, SampleRange /*samples*/) {
                        for (const auto gradient : gradients.colwise()) sum += norm(gradient);
                      });
  return sum / static_cast<double>(objective.num_samples());
}

double gradient_error(double sample_gradient) { return kEpsilon * sample_gradient; }

bool searches_flat_directions(const Objective& objective) { return searched(objective) != nullptr; }

ZeroModes explained_zeros(PointAnalysis& point,
                          const Eigen::MatrixXd& hessian,
                          const Spectrum& spectrum,
                          ZeroModesOptions options) {
  const Objective& objective = point.objective();
  std::optional<Eigen::VectorXd> rows;
  if (has_zero_row(hessian)) rows = Nearby(objective, point.theta()).rows();
  if (rows) options.rows_nearby = &*rows;
  options.product_error = [&](const Eigen::VectorXd& v) {
    return product_error(objective, point.theta(), hessian, v);
  };
  std::vector<Invariance> invariances = objective.invariances();
  const auto explain = [&] {
    return explain_zero_modes(
        point.theta(), point.gradient(), invariances, hessian, spectrum, options);
  };
  ZeroModes modes = explain();
  const GraphObjective* const graph = searched(objective);
  if (graph == nullptr) return modes;
  if (modes.num_unconfirmed > 0) {
    // An invariance that a search found elsewhere is only a conjecture here; the samples' gradients
    // decide.
    invariances = invariances_at(objective, point.theta(), invariances);
    modes = explain();
  }
  std::optional<Eigen::MatrixXd> flat;
  if (modes.num_unexplained > 0) {
    flat = flat_directions(*graph, point.theta());
    if (flat) options.flat_directions = &*flat;
    if (flat) modes = explain();
  }
  modes.families.push_back({.name = kFlatDirectionsName,
                            .num_generators = flat ? flat->cols() : 0,
                            .num_explained = modes.num_flat,
                            .flatness_bound = modes.flat_residual,
                            .num_unconfirmed = 0});
  return modes;
}

Eigen::MatrixXd UnexplainedHessian::project(const Eigen::Ref<const Eigen::MatrixXd>& b) const {
  const Eigen::MatrixXd along = basis.transpose() * b;
  return b - basis * along;
}

Eigen::MatrixXd UnexplainedHessian::project_both(const Eigen::Ref<const Eigen::MatrixXd>& s) const {
  const Eigen::MatrixXd of_basis = s * basis;
  const Eigen::MatrixXd half = 0.5 * (basis.transpose() * of_basis);
  // P S P = S - Q W^T - W Q^T with W = S Q - Q (Q^T S Q) / 2.
  const Eigen::MatrixXd w = of_basis - basis * half;
  Eigen::MatrixXd projected = s;
  projected.noalias() -= basis * w.transpose();
  projected.noalias() -= w * basis.transpose();
  return projected;
}

UnexplainedHessian unexplained_hessian(PointAnalysis& point, double gradient_error) {
  UnexplainedHessian found;
  const Eigen::MatrixXd* h = point.hessian();
  found.status = point.hessian_status();
  if (h == nullptr) return found;
  const Spectrum& spectrum = point.spectrum();
  found.status = spectrum.status;
  if (found.status != Status::kOk) return found;
  const Objective& objective = point.objective();
  Eigen::VectorXd slopes = Eigen::VectorXd::Zero(h->rows());
  if (has_zero_row(*h)) {
    slopes = sample_slopes(objective, point.theta(), kEpsilon)
                 .cwiseMax(Nearby(objective, point.theta()).slopes());
  }
  ZeroModes modes = explained_zeros(
      point,
      *h,
      spectrum,
      {.gradient_error = gradient_error, .sample_slopes = &slopes, .want_basis = true});
  found.status = modes.status;
  if (found.status != Status::kOk) return found;
  found.basis = std::move(modes.basis);
  found.basis.conservativeResize(h->rows(), modes.num_explained);
  found.norm = spectrum.norm();
  if (found.norm == 0) found.norm = 1;
  found.matrix = found.project_both(*h);
  constexpr double kApart = 1 + 0x1p-10;
  found.matrix.noalias() += kApart * found.norm * (found.basis * found.basis.transpose());
  found.matrix = (0.5 * (found.matrix + found.matrix.transpose())).eval();
  return found;
}

}  // namespace hesscope::detail
