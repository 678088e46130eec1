// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>
#include <vector>

#include <hesscope/analyzers/internal/flip_bifurcation.h>
#include <hesscope/analyzers/internal/flip_section.h>
#include <hesscope/analyzers/internal/pair_numbers.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/internal/stability_settings.h>
#include <hesscope/core/internal/norms.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;

// The eigenvector, and so the line, is unique.
bool is_alone(const EigenvalueCluster& cluster) { return cluster.is_whole && cluster.size == 1; }

// The power of two by which a direction is lengthened so that the second derivative along it is
// near 1; 0 if squares of derivatives are ordinary doubles.
int exponent_for(double second) {
  const double size = std::abs(second);
  const bool is_ordinary = size > 0x1p-200 && size < 0x1p200;
  return is_ordinary || !(size > 0) || !std::isfinite(size) ? 0 : -exponent_of(size) / 2;
}

}  // namespace

FlipSection::FlipSection(Group& declaring)
    : first_(declaring.add(
          {.name = "first_derivative",
           .dimensions = {"pair"},
           .long_name = "slope of the loss along the eigenvector of a largest eigenvalue",
           .definition = "f' at t = 0 of f(t) = L(theta + t u), where u is the unit eigenvector of "
                         "an eigenvalue that is alone in its cluster, with the sign that makes "
                         "third_derivative nonnegative; f'' is the eigenvalue"})),
      third_(declaring.add({.name = "third_derivative",
                            .dimensions = {"pair"},
                            .long_name = "third derivative of the loss along that eigenvector",
                            .definition = "f''' at t = 0, which is |u . d lambda / d theta|"})),
      fourth_(declaring.add({.name = "fourth_derivative",
                             .dimensions = {"pair"},
                             .long_name = "fourth derivative of the loss along that eigenvector",
                             .definition = "f'''' at t = 0, by Taylor series"})),
      coefficient_(declaring.add(
          {.name = "flip_coefficient",
           .dimensions = {"pair"},
           .long_name =
               "whether gradient descent beyond 2 / lambda has a stable orbit of period two",
           .definition = "(3 f'''^2 - f'' f'''') / (3 f''^2): positive where t -> t - "
                         "learning_rate f'(t) settles into a stable orbit of period two as the "
                         "learning rate passes 2 / f'', negative where it escapes instead; -1/6 of "
                         "the step's Schwarzian derivative there. This holds for the loss on this "
                         "line alone, near a critical point (first_derivative = 0); undefined "
                         "where f'' is at most the rounding band of the spectrum",
           .references = {papers::kChenBruna, papers::kKuznetsov},
           .undefined = {Status::kUndefinedNotPositiveDefinite}})),
      half_width_(declaring.add(
          {.name = "period_two_half_width",
           .dimensions = {"pair"},
           .long_name = "half the distance between the two points of that orbit",
           .definition =
               std::string(
                   "sqrt(2 (1 - 2 / (learning_rate f'')) / flip_coefficient), to leading order in "
                   "learning_rate - 2 / f'', with the learning rate as given or, if it is the same "
                   "for all parameters, the checkpoint's; 0 where learning_rate f'' <= 2; above "
                   "that, undefined where flip_coefficient is not positive") +
               kLimitInWords,
           .references = {papers::kChenBruna, papers::kKuznetsov},
           .undefined = {Status::kUndefinedNotPositiveDefinite, Status::kNotStored}})) {}

void FlipSection::add_cost(const Objective& objective,
                           double num_pairs,
                           Analyzer::Cost& cost) const {
  constexpr double kGradientsOfALine = 6;  // at most two columns of H V
  cost.gradients += num_pairs * kGradientsOfALine;
  cost.numbers += num_pairs * static_cast<double>(objective.num_parameters());
}

void FlipSection::set(PointAnalysis& point,
                      const ClusteredEnd& end,
                      const KnownRate& rate,
                      Group& answer) const {
  if (end.status != Status::kOk) {
    for (const VariableId id : all()) answer[id].set_missing(end.status);
    return;
  }
  std::vector<const EigenvalueCluster*> alone;
  for (const EigenvalueCluster& cluster : end.clusters) {
    if (is_alone(cluster)) alone.push_back(&cluster);
  }
  Eigen::MatrixXd directions(end.vectors.rows(), static_cast<Index>(alone.size()));
  for (std::size_t k = 0; k < alone.size(); ++k) {
    directions.col(static_cast<Index>(k)) = end.vectors.col(alone[k]->first);
  }
  const Eigen::MatrixXd lines = point.objective().line_derivatives(point.theta(), directions);
  const Index count = end.values.size();
  PairNumbers first(count), third(count), fourth(count), coefficient(count), half_width(count);
  for (std::size_t k = 0; k < alone.size(); ++k) {
    const EigenvalueCluster& cluster = *alone[k];
    const Eigen::VectorXd line = lines.col(static_cast<Index>(k));
    // Along a direction 2^exponent times as long, intermediate results neither overflow nor
    // underflow.
    const int exponent = exponent_for(line(2));
    const Eigen::VectorXd longer =
        exponent == 0 ? line
                      : point.objective()
                            .line_derivatives(
                                point.theta(),
                                std::ldexp(1.0, exponent) * directions.col(static_cast<Index>(k)))
                            .col(0);
    first.set(cluster, std::copysign(1.0, longer(3)) * line(1));
    third.set(cluster, std::ldexp(std::abs(longer(3)), -3 * exponent));
    fourth.set(cluster, std::ldexp(longer(4), -4 * exponent));
    const CriticalLine f{.second = longer(2), .third = longer(3), .fourth = longer(4)};
    if (line(2) <= end.rounding_band) {
      coefficient.set(cluster, kNaN, Status::kUndefinedNotPositiveDefinite);
      half_width.set(cluster, kNaN, Status::kUndefinedNotPositiveDefinite);
      continue;
    }
    const double c = flip_coefficient(f);
    coefficient.set(cluster, std::ldexp(c, -2 * exponent));
    if (rate.status != Status::kOk) {
      half_width.set(cluster, kNaN, rate.status);
    } else if (rate.value * line(2) <= 2) {
      half_width.set(cluster, 0);
    } else if (c <= 0) {
      half_width.set(cluster, kNaN, Status::kUndefinedNotPositiveDefinite);
    } else {
      const double longer_rate = std::ldexp(rate.value, -2 * exponent);
      half_width.set(cluster, std::ldexp(period_two_half_width(f, longer_rate), exponent));
    }
  }
  first.store(answer[first_]);
  third.store(answer[third_]);
  fourth.store(answer[fourth_]);
  coefficient.store(answer[coefficient_]);
  half_width.store(answer[half_width_]);
  if (end.proof != Proof::kConverged) return;
  for (const VariableId id : all()) answer[id].is_proved = false;
}

}  // namespace hesscope::detail
