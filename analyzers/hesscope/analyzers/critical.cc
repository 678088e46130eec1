// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analyzers/critical.h>
#include <hesscope/analyzers/internal/counted_index.h>
#include <hesscope/analyzers/internal/explained_zeros.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/internal/unexplained_inverse.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/spectra/critical_point.h>

namespace hesscope {
namespace {

using detail::CountedIndex;
using detail::UnexplainedHessian;
using detail::UnexplainedInverse;

// The flag's value beyond those of CriticalPointOutcome.
constexpr std::int8_t kNotSearched = std::size(kCriticalPointOutcomes);

std::vector<std::string> outcomes() {
  std::vector<std::string> all(std::begin(kCriticalPointOutcomes),
                               std::end(kCriticalPointOutcomes));
  all.emplace_back("not_searched");
  return all;
}

class CriticalAnalyzer final : public Analyzer {
 public:
  CriticalAnalyzer(int max_iterations, double tolerance)
      : max_iterations_(max_iterations), tolerance_(tolerance) {}

  Cost cost(const Objective& /*objective*/) const override {
    const double most = max_iterations_ + 1;
    // Each iteration takes a Hessian, a decomposition and some gradients; at the end come five more
    // Hessians, and two spectra and counts.
    return {.asks_hessian = true,
            .matrices = 9,
            .hessians = most + 4,
            .decompositions = most + 3,
            .gradients = 3 * most + 3,
            .sample_gradients = 4};
  }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    const Eigen::MatrixXd* h = point.hessian();
    if (h == nullptr) {
      answer[outcome_].set_flag(point.hessian_status() == Status::kNonFinite
                                    ? static_cast<std::int8_t>(CriticalPointOutcome::kNonFinite)
                                    : kNotSearched);
      answer.set_rest_missing(point.hessian_status());
      return answer;
    }
    // The second number is the effect of rounding the parameters on the gradient, over eps: if the
    // samples are fitted, their gradients are no scale to compare with.
    const double unit = std::max(detail::mean_sample_gradient(point.objective(), point.theta()),
                                 detail::norm(*h) * detail::norm(point.theta()));
    const CriticalPoint found = find_critical_point(
        point.objective(),
        point.theta(),
        {.gradient_tolerance = std::max(tolerance_ * unit, std::numeric_limits<double>::min()),
         .max_iterations = max_iterations_},
        detail::part_of(point.progress(), 0, 0.95));
    answer[outcome_].set_flag(static_cast<std::int8_t>(found.outcome));
    answer[num_iterations_].set_count(found.num_iterations);
    answer[relative_gradient_].set(unit > 0 ? found.gradient_norm / unit : 0.0);
    if (found.outcome == CriticalPointOutcome::kConverged) {
      describe(point, found, unit, answer);
    } else {
      answer.set_rest_missing(found.outcome == CriticalPointOutcome::kNonFinite ? Status::kNonFinite
                                                                                : Status::kFailed);
    }
    return answer;
  }

  std::string reason_of_failure(const Group& answer,
                                std::span<const ParameterBlock> /*blocks*/) const override {
    const auto number = [&](VariableId id) { return answer[id].numbers().front(); };
    switch (static_cast<CriticalPointOutcome>(number(outcome_))) {
      case CriticalPointOutcome::kOutOfIterations:
        return fmt::format(
            "the search is not complete after {} of at most {} steps; `critical` "
            "allows more",
            number(num_iterations_),
            max_iterations_);
      case CriticalPointOutcome::kStalled:
        return fmt::format(
            "the search stalled at step {}, with a relative_gradient of {:.2g}: no step makes "
            "the gradient smaller; `critical-gradient` allows a larger one",
            number(num_iterations_),
            number(relative_gradient_));
      case CriticalPointOutcome::kVanishing:
        return "the gradient vanishes together with the curvature, as towards infinity: no "
               "critical "
               "point is near";
      case CriticalPointOutcome::kConverged:
      case CriticalPointOutcome::kNonFinite:
      case CriticalPointOutcome::kFailed:
        break;
    }
    return {};
  }

 private:
  void describe(PointAnalysis& point,
                const CriticalPoint& found,
                double unit,
                Group& answer) const {
    answer[loss_].set(found.loss);
    answer[loss_difference_].set(point.loss() - found.loss);
    answer[distance_].set(detail::norm(found.theta - point.theta()));
    answer[parameters_].set(found.theta);
    PointAnalysis refined(point.objective(), found.theta, {.method = SpectrumMethod::kDense});
    const UnexplainedHessian hessian =
        detail::unexplained_hessian(refined, detail::gradient_error(unit) + found.gradient_norm);
    if (hessian.status != Status::kOk) {
      answer.set_rest_missing(hessian.status);
      return;
    }
    answer[num_explained_].set_count(hessian.num_explained());
    const UnexplainedInverse inverse(refined, hessian, {}, found.rest);
    if (inverse.status() != Status::kOk) {
      answer.set_rest_missing(inverse.status());
      return;
    }
    const CountedIndex index = detail::counted_index(
        hessian, detail::part_of(point.progress(), 0.95, 1), inverse.largest_zero());
    if (index.status == Status::kOk) {
      answer[index_].set_count(index.num_negative);
      answer[num_zero_].set_count(index.num_zero);
      answer[lambda_min_].set(
          index.lambda_min,
          std::isnan(index.lambda_min) ? Status::kUndefinedTooFewPoints : Status::kOk);
      answer[escape_rate_].set(index.num_negative > 0 ? -index.lambda_min : 0.0);
    }
    answer.set_rest_missing(index.status);
  }

  int max_iterations_;
  double tolerance_;
  VariableId index_ = declare(
      {.name = "index",
       .type = VariableType::kInt64,
       .long_name = "index of the critical point",
       .definition = "number of negative eigenvalues of its Hessian outside the explained null "
                     "space, by LDL^T and by Sturm counts, which agree; 0 at a minimum",
       .headline = 2});
  VariableId loss_ = declare({.name = "loss",
                              .long_name = "loss at the critical point",
                              .definition = "mean loss over the data at `parameters`",
                              .headline = 4});
  VariableId escape_rate_ = declare(
      {.name = "escape_rate",
       .long_name = "rate at which gradient flow leaves the critical point",
       .definition = "-lambda_min where the index is above 0, otherwise 0: under d theta / dt = "
                     "-g, a displacement x along its eigenvector grows to x exp(escape_rate t)",
       .references = {papers::kDauphin},
       .headline = 5});
  VariableId distance_ = declare({.name = "distance",
                                  .long_name = "distance of the checkpoint from the critical point",
                                  .definition = "|theta - parameters|",
                                  .headline = 6});
  VariableId loss_difference_ =
      declare({.name = "loss_difference",
               .long_name = "loss at the checkpoint above that at the critical point",
               .definition = "loss at the checkpoint - loss"});
  VariableId lambda_min_ =
      declare({.name = "lambda_min",
               .long_name = "smallest eigenvalue at the critical point",
               .definition = "of its Hessian outside the explained null space, by counts; "
                             "undefined where every eigenvalue is explained",
               .references = {papers::kParlett},
               .undefined = {Status::kUndefinedTooFewPoints}});
  VariableId num_zero_ = declare(
      {.name = "num_zero",
       .type = VariableType::kInt64,
       .long_name = "number of zero eigenvalues that nothing explains",
       .definition =
           "eigenvalues, other than the explained ones, whose magnitude is at most ten rounding "
           "bands above the largest |lambda| that cannot be told from zero, either as defined for "
           "/influence/num_zero or because |lambda| is at most 2 |v^T (H(theta + p) - H) v|, where "
           "p is the rest of the way to a degenerate point (see outcome) or half of it; if there "
           "are any, the critical point is degenerate and its index counts the others",
       .headline = 3});
  VariableId num_explained_ =
      declare({.name = "num_explained",
               .type = VariableType::kInt64,
               .long_name = "number of explained zero eigenvalues at the critical point",
               .definition = "as /structure/num_explained, at `parameters`, except that a "
                             "parameter along which the loss of some sample has a slope, there or "
                             "at the nearby point of /structure/dead, is not dead"});
  VariableId outcome_ = declare(
      {.name = "outcome",
       .type = VariableType::kInt8,
       .long_name = "how the search ended",
       .definition =
           "stalled: no step makes |g| smaller, as near a nonzero minimum of |g|^2 or where H is "
           "singular to rounding; vanishing: no critical point is near, because |g| is small but "
           "so is H, as towards infinity: |g| / ||H|| is above 1e-6 |theta|, or the last Newton "
           "step is and that step or an earlier one left more than a tenth of |g|; converged even "
           "so if the steps shrink as towards a degenerate point, the median ratio r of the last "
           "eight being above 0.4 and at most a quarter of the ratios 0.9 or more, and the rest of "
           "the way is at most 1e-2 |theta|: the median by length of what each of these steps "
           "predicts, r / (1 - r) times the step minus the steps after it; not_searched: without "
           "the matrix. Unless it converged, only num_iterations and relative_gradient are given "
           "besides",
       .flag_meanings = outcomes(),
       .headline = 1});
  VariableId num_iterations_ = declare({.name = "num_iterations",
                                        .type = VariableType::kInt64,
                                        .long_name = "number of steps of the search",
                                        .definition = "each takes a Hessian and its eigensystem"});
  VariableId relative_gradient_ =
      declare({.name = "relative_gradient",
               .long_name = "gradient where the search ended",
               .definition = "|g| there / max(mean |g_i|, ||H||_F |theta|) at the checkpoint, "
                             "where g_i is the gradient of sample i; 0 if the denominator is zero; "
                             "converged only if it is at most critical-gradient",
               .references = {papers::kMarquardt}});
  VariableId parameters_ = declare(
      {.name = "parameters",
       .dimensions = {"parameter"},
       .long_name = "parameters of the critical point",
       .definition = "where the iteration theta <- theta - (H^2 + mu I)^-1 H g ended, with mu "
                     "going to zero: Newton's method with Levenberg-Marquardt damping for |g|^2",
       .references = {papers::kMarquardt}});
};

}  // namespace

AnalyzerKind critical_analyzer() {
  return {.name = "critical",
          .question =
              "which critical point of the loss is near, a minimum or a saddle: its loss, "
              "index and escape rate",
          .by_default = false,
          .on_missing = kTakesMatrix,
          .options = {{.name = "critical",
                       .type = SettingKey::Type::kInteger,
                       .meaning = "maximum number of Newton steps to a critical point",
                       .minimum = 1,
                       .maximum = 100'000,
                       .fallback = SettingValue(std::int64_t{100})},
                      {.name = "critical-gradient",
                       .type = SettingKey::Type::kReal,
                       .meaning = "largest gradient there, relative to those of the samples at the "
                                  "checkpoint: see relative_gradient",
                       .range = RealRange{},
                       .fallback = SettingValue(1e-12)}},
          .create = [](const Settings& settings) {
            return std::make_unique<CriticalAnalyzer>(
                static_cast<int>(settings.integer("critical")), settings.real("critical-gradient"));
          }};
}

}  // namespace hesscope
