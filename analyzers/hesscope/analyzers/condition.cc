// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include <Eigen/Core>

#include <hesscope/analyzers/condition.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/spectra/condition_numbers.h>

namespace hesscope {
namespace {

class ConditionAnalyzer final : public Analyzer {
 public:
  Cost cost(const Objective& /*objective*/) const override {
    return {.asks_hessian = true, .asks_spectrum = true};
  }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    const Eigen::VectorXd* diagonal = point.hessian_diagonal();
    if (diagonal == nullptr) {
      answer.set_rest_missing(point.diagonal_status());
      return answer;
    }
    const ConditionNumbers numbers = condition_numbers(*diagonal, point.spectrum());
    answer[robust_diagonal_].set(numbers.robust_diagonal);
    answer[robust_eigenvalue_].set(numbers.robust_eigenvalue);
    answer[robust_absolute_].set(numbers.robust_absolute);
    answer[classical_].set(numbers.classical);
    return answer;
  }

 private:
  VariableId robust_diagonal_ =
      declare({.name = "robust_diagonal",
               .long_name = "robust condition number of the diagonal",
               .definition = "largest |H_ii| over the lower median of |H_ii|, which counts as zero "
                             "if it is at most /spectrum/rounding_band",
               .references = {papers::kJiang, papers::kAhn},
               .undefined = {Status::kUndefinedZeroMedian},
               .headline = 1});
  VariableId robust_eigenvalue_ =
      declare({.name = "robust_eigenvalue",
               .long_name = "robust condition number",
               .definition = "lambda_max over the lower median eigenvalue",
               .references = {papers::kJiang},
               .undefined = {Status::kUndefinedZeroMedian},
               .headline = 2});
  VariableId robust_absolute_ =
      declare({.name = "robust_absolute",
               .long_name = "robust condition number of eigenvalue magnitudes",
               .definition = "largest |lambda| over the lower median of |lambda|",
               .undefined = {Status::kUndefinedZeroMedian},
               .headline = 3});
  VariableId classical_ = declare(
      {.name = "classical",
       .long_name = "condition number",
       .definition =
           "lambda_max over lambda_min; undefined unless lambda_min is above the rounding band",
       .undefined = {Status::kUndefinedNotPositiveDefinite},
       .headline = 4});
};

}  // namespace

AnalyzerKind condition_analyzer() {
  return {.name = "condition",
          .question = "robust and classical condition numbers of the Hessian",
          .by_default = true,
          .on_missing = kTakesMatrix,
          .options = {},
          .create = [](const Settings&) { return std::make_unique<ConditionAnalyzer>(); }};
}

}  // namespace hesscope
