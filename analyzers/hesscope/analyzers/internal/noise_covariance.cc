// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <vector>

#include <hesscope/analyzers/internal/noise_covariance.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/noise/noise_alignment.h>

namespace hesscope::detail {
namespace {

// A single sample has no covariance.
const std::vector<Status> kUndefinedOfOne = {Status::kUndefinedTooFewPoints};
const std::vector<Status> kUndefinedScale = {Status::kUndefinedZeroDenominator,
                                             Status::kUndefinedTooFewPoints};

}  // namespace

NoiseCovariance::NoiseCovariance(Group& declaring)
    : covariance_trace_(declaring.add(
          {.name = "covariance_trace",
           .long_name = "total variance of per-sample gradients",
           .definition = "tr S, where S is the covariance of the gradients of single samples, with "
                         "the number of samples minus 1 in the denominator; 0 where S is zero "
                         "within rounding, as defined for alignment_cosine",
           .references = {papers::kMcCandlish},
           .undefined = kUndefinedOfOne})),
      simple_(declare_scale(declaring,
                            {.name = "noise_scale_simple",
                             .long_name = "simple gradient noise scale",
                             .definition = "tr S / |g|^2, in samples",
                             .references = {papers::kMcCandlish},
                             .undefined = kUndefinedScale,
                             .headline = 5})),
      hessian_(declare_scale(declaring,
                             {.name = "noise_scale_hessian",
                              .long_name = "gradient noise scale",
                              .definition = "tr(H S) / (g^T H g), in samples; H the Hessian",
                              .references = {papers::kMcCandlish},
                              .undefined = kUndefinedScale,
                              .headline = 6})),
      alignment_cosine_(declaring.add(
          {.name = "alignment_cosine",
           .long_name = "cosine between Hessian and covariance of gradients",
           .definition =
               "tr(H S) / (||H||_F ||S||_F); undefined where S is zero within rounding, that is, "
               "tr S is at most (16 eps)^2 |g|^2 or (16 eps ||H diag(theta)||_F)^2",
           .undefined = kUndefinedScale})),
      commutator_(declaring.add({.name = "commutator",
                                 .long_name = "commutator of Hessian and covariance of gradients",
                                 .definition =
                                     "||H S - S H||_F / (2 ||H||_F ||S||_F); at most 1 / sqrt(2); "
                                     "undefined where alignment_cosine is",
                                 .references = {papers::kBoettcher},
                                 .undefined = kUndefinedScale})),
      eigenvalues_(declaring.add({.name = "eigenvalues",
                                  .dimensions = {"rank"},
                                  .long_name = "eigenvalues of the Hessian",
                                  .definition = "as /spectrum/eigenvalues"})),
      eigendirection_noise_(declaring.add(
          {.name = "eigendirection_noise",
           .dimensions = {"rank"},
           .long_name = "variance of per-sample gradients along eigenvectors of the Hessian",
           .definition = "v^T S v for the unit eigenvector v of each eigenvalue; for eigenvalues "
                         "that coincide, each no further from the next than the rounding band, the "
                         "mean over them, which does not depend on the basis",
           .undefined = kUndefinedOfOne})),
      noise_exponent_(declaring.add(
          {.name = "noise_exponent",
           .long_name = "exponent of noise as a power of curvature",
           .definition = "slope of the least-squares line of log eigendirection_noise on log "
                         "|eigenvalue|, over the eigenvalues for which neither is zero within "
                         "rounding, coinciding ones counting as one; undefined where their "
                         "|eigenvalue| differ by no more than the rounding band",
           .undefined = kUndefinedScale,
           .headline = 7})),
      noise_exponent_standard_error_(declaring.add(
          {.name = "noise_exponent_standard_error",
           .long_name = "standard error of noise_exponent",
           .definition =
               "standard error of the slope, assuming independent residuals of equal variance",
           .undefined = kUndefinedScale})),
      noise_exponent_count_(
          declaring.add({.name = "noise_exponent_count",
                         .type = VariableType::kInt64,
                         .long_name = "eigenvalues in the fit of noise_exponent",
                         .definition = "number of eigenvalues for which neither number is zero "
                                       "within rounding, coinciding ones counting as one",
                         .undefined = kUndefinedOfOne})) {}

NoiseCovariance::Scale NoiseCovariance::declare_scale(Group& declaring, const Variable& value) {
  return {declaring.add(value),
          declaring.add(
              {.name = value.name + "_bias",
               .long_name = "bias of " + value.name,
               .definition =
                   "by the delete-one-block jackknife over 32 blocks of consecutive samples, or "
                   "fewer if there are fewer samples; of N samples, the first N mod 32 blocks have "
                   "one more; where targets have weights or are ignored, as "
                   "sampling/lambda_max_bias; undefined where the denominator without some block "
                   "is zero within rounding or changes its sign; not subtracted from the scale",
               .references = {papers::kBusing},
               .undefined = kUndefinedScale}),
          declaring.add({.name = value.name + "_standard_error",
                         .long_name = "standard error of " + value.name,
                         .definition = "by the same jackknife",
                         .references = {papers::kBusing},
                         .undefined = kUndefinedScale})};
}

double NoiseCovariance::set(Group& answer, PointAnalysis& point) const {
  const Eigen::MatrixXd* h = point.hessian();
  GradientCovariance covariance = gradient_covariance(point.objective(),
                                                      point.theta(),
                                                      {.with_matrix = h != nullptr},
                                                      part_of(point.progress(), 0.0, 0.2));
  const double by_parameters = norm(point.gradient_by_rounded_parameters());
  const double deviation = std::ldexp(std::sqrt(covariance.trace), covariance.exponent);
  const bool is_zero =
      covariance.status == Status::kOk && (is_noise_zero(covariance) || deviation <= by_parameters);
  const double trace = is_zero ? 0 : std::ldexp(covariance.trace, 2 * covariance.exponent);
  answer[covariance_trace_].set(covariance.status == Status::kOk
                                    ? finite_statistic(trace)
                                    : missing_statistic(covariance.status));
  const ProgressCallback rest = part_of(point.progress(), 0.2, 0.4);
  NoiseScales scales =
      h != nullptr ? noise_scales(point.objective(), point.theta(), covariance, *h, {}, rest)
                   : noise_scales(point.objective(), point.theta(), covariance, {}, rest);
  if (covariance.status == Status::kOk && point.is_gradient_zero(covariance)) {
    const Statistic none = missing_statistic(Status::kUndefinedZeroDenominator);
    scales = {{none, none, none}, {none, none, none}};
  } else if (is_zero) {
    for (NoiseScale* scale : {&scales.simple, &scales.hessian}) {
      for (Statistic* each : {&scale->value, &scale->bias, &scale->standard_error}) {
        if (each->status == Status::kOk) each->value = 0;
      }
    }
  }
  const double rounding = std::max(rounding_of_gradients(covariance), by_parameters);
  set_scale(answer, simple_, scales.simple);
  if (h == nullptr) {
    set_missing_curvature(answer, point.hessian_status());
    return rounding;
  }
  set_scale(answer, hessian_, scales.hessian);
  // A covariance that is only rounding has no direction.
  if (covariance.status == Status::kOk) {
    if (is_zero) covariance.matrix.setZero();
    const NoiseAlignment alignment = noise_alignment(*h, covariance.matrix);
    answer[alignment_cosine_].set(alignment.cosine);
    answer[commutator_].set(alignment.commutator);
  } else {
    set_missing_alignment(answer, covariance.status);
  }
  // If only a few ranks are asked for, all eigenvectors would take too long.
  if (point.method() == SpectrumMethod::kDense) {
    set_spectrum(
        answer, dense_eigensystem(*h, {}, part_of(point.progress(), 0.4, 0.7)), covariance);
  }
  return rounding;
}

void NoiseCovariance::set_scale(Group& answer, const Scale& ids, const NoiseScale& scale) {
  answer[ids.value].set(scale.value);
  answer[ids.bias].set(scale.bias);
  answer[ids.standard_error].set(scale.standard_error);
}

void NoiseCovariance::set_missing_curvature(Group& answer, Status status) const {
  for (const VariableId id :
       {hessian_.value, hessian_.bias, hessian_.standard_error, eigenvalues_}) {
    answer[id].set_missing(status);
  }
  set_missing_alignment(answer, status);
}

void NoiseCovariance::set_missing_alignment(Group& answer, Status status) const {
  for (const VariableId id : {alignment_cosine_, commutator_}) answer[id].set_missing(status);
  set_missing_noise(answer, status);
}

void NoiseCovariance::set_missing_noise(Group& answer, Status status) const {
  for (const VariableId id : {eigendirection_noise_,
                              noise_exponent_,
                              noise_exponent_standard_error_,
                              noise_exponent_count_}) {
    answer[id].set_missing(status);
  }
}

void NoiseCovariance::set_spectrum(Group& answer,
                                   const Eigensystem& eigensystem,
                                   const GradientCovariance& covariance) const {
  if (eigensystem.status != Status::kOk) {
    answer[eigenvalues_].set_missing(eigensystem.status);
    return set_missing_noise(answer, eigensystem.status);
  }
  answer[eigenvalues_].set(eigensystem.eigenvalues);
  if (covariance.status != Status::kOk) return set_missing_noise(answer, covariance.status);
  const NoiseSpectrum spectrum =
      noise_spectrum(eigensystem, covariance.matrix, covariance.exponent);
  if (spectrum.status != Status::kOk) return set_missing_noise(answer, spectrum.status);
  // Squares of large gradients are no doubles; + 0 makes 0 of -0.
  answer[eigendirection_noise_].set(Eigen::VectorXd(spectrum.noise.unaryExpr(
      [](double variance) { return std::isfinite(variance) ? variance + 0.0 : kNaN; })));
  answer[noise_exponent_].set(spectrum.power_law.slope);
  answer[noise_exponent_standard_error_].set(spectrum.power_law.slope_standard_error);
  answer[noise_exponent_count_].set_count(spectrum.num_fitted);
}

}  // namespace hesscope::detail
