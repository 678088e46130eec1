// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>

#include <hesscope/analyzers/internal/oscillation_section.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/internal/self_stabilization.h>
#include <hesscope/analyzers/internal/stability_settings.h>
#include <hesscope/core/internal/norms.h>

namespace hesscope::detail {
namespace {

// At theta - x u, without rounding.
struct Centre {
  double loss;
  Eigen::VectorXd gradient;
};

// Its parameters are also as inexact as those of the point, however small they are.
Centre centre_at(PointAnalysis& point, const Eigen::VectorXd& theta) {
  PointAnalysis centre(point.objective(), theta, {.method = SpectrumMethod::kMatrixFree});
  Centre found{centre.loss(), centre.gradient()};
  if (centre.status() != Status::kOk) return found;
  if (norm(found.gradient) <= norm(point.gradient_by_rounded_parameters()) ||
      centre.is_gradient_zero()) {
    found.gradient.setZero();
  }
  return found;
}

}  // namespace

OscillationSection::OscillationSection(Group& declaring)
    : at_edge_{declaring.add({.name = "centre_rate",
                              .long_name = "progressive sharpening at the centre of oscillation",
                              .definition =
                                  "-P d lambda / d theta . g(theta - x u), with x = u . g / "
                                  "lambda, where u is the unit eigenvector of the largest "
                                  "eigenvalue, if that is alone in its cluster and above the "
                                  "rounding band of the spectrum, and P projects u out; g counts "
                                  "as 0 here and there as for rate_largest; at a point that "
                                  "oscillates, that also includes self-stabilisation",
                              .references = {papers::kDamian},
                              .undefined = {Status::kUndefinedNotPositiveDefinite}}),
               declaring.add(
                   {.name = "centre_gap",
                    .long_name =
                        "distance of the sharpness at the centre from the edge of stability",
                    .definition =
                        std::string("2 / learning_rate - (lambda - x u . d lambda / d theta), to "
                                    "first order in x") +
                        kLimitInWords,
                    .references = {papers::kDamian},
                    .undefined = {Status::kUndefinedNotPositiveDefinite,
                                  Status::kUndefinedZeroDenominator,
                                  Status::kNotStored}}),
               declaring.add({.name = "squared_offset",
                              .long_name = "square of the distance from the centre along u",
                              .definition = "x^2, whose mean over steps is the variance of the "
                                            "oscillation",
                              .references = {papers::kCohen2024},
                              .undefined = {Status::kUndefinedNotPositiveDefinite}}),
               declaring.add(
                   {.name = "oscillation_variance",
                    .long_name = "predicted variance of the oscillation that holds the sharpness",
                    .definition = "sigma^2 = 2 centre_rate / self_stabilization_largest, or 0 "
                                  "where centre_rate is not positive: the mean of squared_offset "
                                  "while this eigenvalue alone is at 2 / learning_rate, both along "
                                  "the central flow d theta / dt = -g - sigma^2 / 2 d lambda / d "
                                  "theta and over each cycle of self-stabilisation",
                    .references = {papers::kCohen2024, papers::kDamian},
                    .undefined = {Status::kUndefinedNotPositiveDefinite,
                                  Status::kUndefinedZeroDenominator}}),
               declaring.add({.name = "loss_excess",
                              .long_name = "loss in excess of the loss at the centre",
                              .definition = "L(theta) - L(theta - x u)",
                              .undefined = {Status::kUndefinedNotPositiveDefinite}}),
               declaring.add({.name = "predicted_loss_excess",
                              .long_name = "predicted mean of loss_excess over steps",
                              .definition = "lambda oscillation_variance / 2",
                              .references = {papers::kCohen2024},
                              .undefined = {Status::kUndefinedNotPositiveDefinite,
                                            Status::kUndefinedZeroDenominator}}),
               declaring.add({.name = "predicted_squared_gradient",
                              .long_name = "predicted mean of squared_gradient over steps",
                              .definition = "|g(theta - x u)|^2 + lambda^2 oscillation_variance",
                              .references = {papers::kCohen2024},
                              .undefined = {Status::kUndefinedNotPositiveDefinite,
                                            Status::kUndefinedZeroDenominator}}),
               declaring.add(
                   {.name = "cycle_energy",
                    .long_name = "energy of the cycle of self-stabilisation",
                    .definition =
                        "h = X^2 - log X^2 - 1 + Y^2, with X^2 = squared_offset / "
                        "oscillation_variance and Y = centre_gap / sqrt(centre_rate), which the "
                        "cycle conserves to leading order in the learning rate; 0 where the cycle "
                        "stands still; defined only where centre_rate is positive",
                    .references = {papers::kDamian},
                    .undefined = {Status::kUndefinedNotPositiveDefinite,
                                  Status::kUndefinedZeroDenominator,
                                  Status::kNotStored}}),
               declaring.add({.name = "cycle_gap",
                              .long_name = "predicted largest |centre_gap| on the cycle",
                              .definition = "sqrt(centre_rate cycle_energy)",
                              .references = {papers::kDamian},
                              .undefined = {Status::kUndefinedNotPositiveDefinite,
                                            Status::kUndefinedZeroDenominator,
                                            Status::kNotStored}}),
               declaring.add(
                   {.name = "cycle_period",
                    .long_name = "predicted number of steps of a small cycle",
                    .definition = std::string("sqrt(2) pi / (learning_rate sqrt(centre_rate)), for "
                                              "cycle_energy near 0; defined only where centre_rate "
                                              "is positive") +
                                  kLimitInWords,
                    .references = {papers::kDamian},
                    .undefined = {Status::kUndefinedNotPositiveDefinite,
                                  Status::kUndefinedZeroDenominator,
                                  Status::kNotStored}})},
      squared_gradient_(
          declaring.add({.name = "squared_gradient",
                         .long_name = "squared norm of the gradient",
                         .definition = "|g|^2, to compare with predicted_squared_gradient; 0 "
                                       "where rate_largest counts g as 0"})) {}

void OscillationSection::add_cost(const Objective& objective, Analyzer::Cost& cost) const {
  constexpr double kProducts = 4;  // with the Hessian at the centre
  cost.gradients += 1 + 3 * kProducts;
  cost.sample_gradients += 1;
  cost.numbers += 3 * static_cast<double>(objective.num_parameters());
}

void OscillationSection::set(PointAnalysis& point,
                             const Eigen::VectorXd& gradient,
                             const ClusteredEnd& end,
                             const KnownRate& rate,
                             Group& answer) const {
  if (end.status != Status::kOk) {
    for (const VariableId id : at_edge_) answer[id].set_missing(end.status);
    answer[squared_gradient_].set_missing(end.status);
    return;
  }
  answer[squared_gradient_].set(gradient.squaredNorm());
  const EigenvalueCluster& outermost = end.clusters.front();
  Outcomes found;
  if (outermost.has_gradient() && outermost.size == 1) {
    found = oscillation(point, gradient, end, outermost, rate);
  }
  for (std::size_t q = 0; q < kNumQuantities; ++q) {
    Variable& variable = answer[at_edge_[q]];
    const Outcome& outcome = found[q];
    const bool is_lost = outcome.status == Status::kOk && !std::isfinite(outcome.value);
    variable.set(outcome.value, is_lost ? Status::kNonFinite : outcome.status);
    if (end.proof == Proof::kConverged) variable.is_proved = false;
  }
}

OscillationSection::Outcomes OscillationSection::oscillation(PointAnalysis& point,
                                                             const Eigen::VectorXd& gradient,
                                                             const ClusteredEnd& end,
                                                             const EigenvalueCluster& cluster,
                                                             const KnownRate& rate) {
  Outcomes found;
  const double lambda = cluster.mean;
  if (lambda <= end.rounding_band) {
    found.fill({.status = Status::kUndefinedNotPositiveDefinite});
    return found;
  }
  const Eigen::VectorXd u = end.vectors.col(cluster.first);
  const double x = u.dot(gradient) / lambda;
  const Centre centre = centre_at(point, point.theta() - x * u);
  const Eigen::VectorXd slope = end.projected_gradient(cluster);
  const double norm = detail::norm(slope);
  const double alpha = 0.0 - slope.dot(centre.gradient);  // avoids -0
  found[kCentreRate] = {alpha, Status::kOk};
  found[kSquaredOffset] = {x * x, Status::kOk};
  found[kLossExcess] = {point.loss() - centre.loss, Status::kOk};

  const Status stands = norm > 0 ? Status::kOk : Status::kUndefinedZeroDenominator;
  // With unit vectors, so that no square underflows.
  const double variance = std::max(0.0 - 2 * (slope / norm).dot(centre.gradient / norm), 0.0);
  found[kVariance] = {variance, stands};
  found[kPredictedLossExcess] = {lambda * variance / 2, stands};
  const Wide squared = sum_of_squares(centre.gradient) + Wide(lambda) * lambda * variance;
  found[kPredictedSquaredGradient] = {squared.value(), stands};

  Status known = rate.status;
  if (known == Status::kOk && rate.value == 0) known = Status::kUndefinedZeroDenominator;
  const double gap = 2 / rate.value - (lambda - x * u.dot(cluster.gradient));
  found[kCentreGap] = {gap, known};
  // A cycle needs progressive sharpening; to have an energy, it also needs self-stabilisation and
  // an offset.
  const Status sharpens = known != Status::kOk ? known
                          : alpha > 0          ? Status::kOk
                                               : Status::kUndefinedNotPositiveDefinite;
  const bool has_energy = norm > 0 && x != 0;
  const Status cycles =
      sharpens == Status::kOk && !has_energy ? Status::kUndefinedZeroDenominator : sharpens;
  const double energy = cycle_energy(
      {.sharpening = alpha, .variance = variance, .squared_offset = x * x, .gap = gap});
  found[kCyclePeriod] = {cycle_period(alpha, rate.value), sharpens};
  found[kCycleEnergy] = {energy, cycles};
  found[kCycleGap] = {cycle_gap(alpha, energy), cycles};
  return found;
}

}  // namespace hesscope::detail
