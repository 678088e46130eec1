// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <hesscope/analyzers/edge.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/internal/stability_sections.h>
#include <hesscope/analyzers/internal/stability_settings.h>
#include <hesscope/analyzers/internal/step_rounding.h>
#include <hesscope/analyzers/optimizer_preconditioner.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/objective/gradient_blocks.h>
#include <hesscope/spectra/extremes.h>

namespace hesscope {
namespace {

using detail::ThresholdSection;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kBothSearches = 2;  // of H, and of P^-1/2 H P^-1/2

class EdgeAnalyzer final : public Analyzer {
 public:
  Cost cost(const Objective& objective) const override {
    const auto n = static_cast<double>(objective.num_parameters());
    return {.asks_hessian = true,
            .matrices = 2,
            .numbers = static_cast<double>(gradient_block_size(objective)) * n,
            .searches = kBothSearches,
            .products = 2,
            .gradients = 1,
            .sample_gradients = 1,
            .matrix_operations = kBothSearches * n * n * n / 3};
  }

  std::vector<std::string> remarks_on(std::span<const OptimizerState> optimizers,
                                      std::span<const ParameterBlock> /*blocks*/,
                                      const GivenSettings& given) const override {
    return detail::remarks_on_assumed_averages(optimizers, given);
  }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    const Status status = point.status() != Status::kOk                  ? point.status()
                          : point.hessian_status() == Status::kNonFinite ? Status::kNonFinite
                                                                         : Status::kOk;
    if (status != Status::kOk) {
      answer.set_rest_missing(status);
      return answer;
    }
    const EndOfSpectrum end = largest_of(point, nullptr);
    set_end(end, sharpness_, sharpness_error_, answer);
    set_preconditioned(point, end, answer);
    if (point.is_gradient_zero()) {
      answer[gradient_curvature_].set_missing(Status::kUndefinedZeroDenominator);
    } else {
      set_curvature(point, point.gradient(), gradient_curvature_, answer);
    }
    if (const VectorXd* next = point.next_theta()) {
      set_curvature(point, detail::step_without_rounding(point, *next), update_curvature_, answer);
    } else {
      answer[update_curvature_].set_missing(point.no_neighbour_status());
    }
    return answer;
  }

 private:
  // The largest eigenvalue of H or, with the diagonal of P, of P^-1/2 H P^-1/2.
  static EndOfSpectrum largest_of(PointAnalysis& point, const VectorXd* p) {
    const ExtremesOptions options = {.num_smallest = 0, .num_largest = 1, .seed = point.seed()};
    if (const MatrixXd* h = point.hessian()) {
      if (p == nullptr) return extreme_eigenpairs(*h, options, point.progress()).largest;
      const VectorXd scale = p->array().rsqrt();
      const MatrixXd scaled = scale.asDiagonal() * *h * scale.asDiagonal();
      return extreme_eigenpairs(scaled, options, point.progress()).largest;
    }
    const SymmetricOperator& h = point.hessian_operator();
    if (p == nullptr) return extreme_eigenpairs(h, options, point.progress()).largest;
    return extreme_eigenpairs(PreconditionedOperator(h, *p), options, point.progress()).largest;
  }

  static void set_end(const EndOfSpectrum& end, VariableId value, VariableId error, Group& answer) {
    const bool is_there = end.status == Status::kOk;
    answer[value].set(is_there ? end.values[0] : kNaN, end.status);
    answer[error].set(is_there ? end.error_bound : kNaN, end.status);
    if (is_there && end.proof == Proof::kConverged) answer[value].is_proved = false;
  }

  void leave_out(Status status, Group& answer) const {
    answer[preconditioned_].set_missing(status);
    answer[preconditioned_error_].set_missing(status);
    threshold_.set_missing(answer, status);
  }

  void set_preconditioned(PointAnalysis& point, const EndOfSpectrum& plain, Group& answer) const {
    const OptimizerState& state = point.optimizer();
    const bool keeps_nothing = state.kind == OptimizerKind::kSgd;
    const bool is_known = state.kind != OptimizerKind::kNone &&
                          state.kind != OptimizerKind::kUnknown && !state.blocks.empty();
    if (!is_known || (!keeps_nothing && !state.has_second_moments())) {
      return leave_out(Status::kNotStored, answer);
    }
    const Preconditioner preconditioner = optimizer_preconditioner(
        state, point.given_settings(), point.objective().parameter_blocks());
    const VectorXd& p = preconditioner.diagonal;
    if (!(p.array() > 0).all()) return leave_out(Status::kNonFinite, answer);
    const EndOfSpectrum end = (p.array() == 1).all() ? plain : largest_of(point, &p);
    set_end(end, preconditioned_, preconditioned_error_, answer);
    Spectrum spectrum;
    spectrum.status = end.status;
    spectrum.proof = end.proof;
    if (end.status == Status::kOk) spectrum.largest = {end.values[0], end.residuals[0]};
    threshold_.set(answer, preconditioner.step, preconditioner.learning_rate, spectrum);
  }

  static void set_curvature(PointAnalysis& point,
                            const VectorXd& direction,
                            VariableId variable,
                            Group& answer) {
    const double norm = detail::norm(direction);
    if (!std::isfinite(norm)) return answer[variable].set_missing(Status::kNonFinite);
    if (norm == 0) return answer[variable].set_missing(Status::kUndefinedZeroDenominator);
    const VectorXd unit = direction / norm;
    answer[variable].set(unit.dot(point.hessian_operator().apply(unit).col(0)));
  }

  VariableId sharpness_ = declare({.name = "sharpness",
                                   .long_name = "sharpness",
                                   .definition = "largest eigenvalue of the Hessian",
                                   .references = {papers::kCohen2021},
                                   .headline = 1});
  VariableId sharpness_error_ =
      declare({.name = "sharpness_error",
               .long_name = "bound on the error of sharpness",
               .definition = "|sharpness - largest eigenvalue| is at most this; without a matrix, "
                             "unless the search missed an eigenvalue"});
  VariableId preconditioned_ = declare(
      {.name = "preconditioned_sharpness",
       .long_name = "preconditioned sharpness",
       .definition =
           "largest eigenvalue of P^-1/2 H P^-1/2 where P is what the optimiser divides its update "
           "by: 1 for gradient descent with or without momentum, stability/preconditioner for the "
           "other optimisers, infinite for parameters that are not trained; weight decay that the "
           "optimiser adds to the gradient would be added to H, but is not included",
       .references = {papers::kCohen2022},
       .undefined = {Status::kNotStored},
       .headline = 2});
  VariableId preconditioned_error_ =
      declare({.name = "preconditioned_sharpness_error",
               .long_name = "bound on the error of preconditioned_sharpness",
               .definition = "as sharpness_error",
               .undefined = {Status::kNotStored}});
  ThresholdSection threshold_{
      declaring(),
      {.name = "threshold",
       .long_name = "largest stable preconditioned sharpness",
       .definition =
           "for the optimiser on a quadratic: 2 / learning_rate for gradient descent; (2 + 2 m) / "
           "learning_rate for heavy ball with momentum m, divided by 1 - dampening; (2 + 2 m) / (1 "
           "+ 2 m) / learning_rate for Nesterov momentum; as heavy ball for RMSprop; 2 / "
           "learning_rate for Adagrad; (2 + 2 beta1) / ((1 - beta1) learning_rate) for Adam and "
           "its variants, from its momenta at that step for NAdam; learning_rate is the largest of "
           "the groups'; gradient clipping, which shortens steps, is not taken into account",
       .references = {papers::kCohen2021, papers::kCohen2022},
       .undefined = {Status::kUndefinedZeroDenominator, Status::kNotStored}},
      {.name = "ratio",
       .long_name = "preconditioned sharpness over its largest stable value",
       .definition = "preconditioned_sharpness / threshold; at the edge of stability it hovers at "
                     "1, or below 1 if the optimiser has weight decay",
       .references = {papers::kCohen2021, papers::kCohen2022},
       .undefined = {Status::kNotStored},
       .headline = 3}};
  VariableId gradient_curvature_ = declare({.name = "gradient_curvature",
                                            .long_name = "curvature along the gradient",
                                            .definition = "g^T H g / |g|^2",
                                            .undefined = {Status::kUndefinedZeroDenominator},
                                            .headline = 4});
  VariableId update_curvature_ = declare(
      {.name = "update_curvature",
       .long_name = "curvature along the update",
       .definition = std::string("u^T H u / |u|^2, where u is the update that follows or, in an "
                                 "analysis of checkpoints, the step to the next one") +
                     detail::kStepRoundingInWords,
       .undefined = {Status::kUndefinedZeroDenominator, Status::kUndefinedNoOrder},
       .headline = 5});
};

}  // namespace

AnalyzerKind edge_analyzer() {
  return {.name = "edge",
          .question =
              "is training at its edge of stability? sharpness as the optimiser sees it, "
              "curvature along gradient and update",
          .by_default = false,
          .on_missing =
              "update_curvature needs a next checkpoint; threshold and ratio of a stored optimiser "
              "need a learning rate in the checkpoint, or `learning-rate`",
          .on_not_stored =
              "the optimiser's sharpness, threshold and ratio take its state in the checkpoint",
          .options = {},
          .create = [](const Settings&) { return std::make_unique<EdgeAnalyzer>(); }};
}

}  // namespace hesscope
